package export_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/primitive"

	"prejoin/pkg/export"
)

const benchRows = 80_000

// batches hands out the same documents again and again, 1,000 a batch.
type batches struct {
	docs []bson.Raw
	at   int
}

func (b *batches) Next(ctx context.Context) ([]bson.Raw, error) {
	if b.at >= len(b.docs) {
		return nil, io.EOF
	}
	n := min(1000, len(b.docs)-b.at)
	b.at += n
	return b.docs[b.at-n : b.at], nil
}

func size(docs []bson.Raw) (n int64) {
	for _, d := range docs {
		n += int64(len(d))
	}
	return n
}

// BenchmarkEncode: bytes are those of the documents read, so that formats compare.
func BenchmarkEncode(b *testing.B) {
	docs := realistic(benchRows)
	run := func(name string, encode func() func(bson.Raw) int) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(size(docs))
			b.ReportAllocs()
			for b.Loop() {
				row := encode()
				for _, d := range docs {
					row(d)
				}
			}
		})
	}
	l := layout(b, export.Config{Location: seoul(b)})
	run("ndjson", func() func(bson.Raw) int { return rowsOf(export.NewNDJSON(l, false)) })
	run("csv", func() func(bson.Raw) int { return rowsOf(export.NewCSV(l, export.CSVConfig{})) })
	run("digest", func() func(bson.Raw) int {
		d := export.NewDigest(l)
		return func(doc bson.Raw) int { _ = d.Add(doc); return 0 }
	})
	run("struct", func() func(bson.Raw) int { return viaStruct })
	run("bsonM", func() func(bson.Raw) int { return viaMap })
	run("extjson", func() func(bson.Raw) int { return viaExtJSON })
}

func rowsOf(enc export.Encoder) func(bson.Raw) int {
	return func(d bson.Raw) int {
		_ = enc.Row(d)
		if enc.Buffered() > 1<<20 {
			_ = enc.Flush(io.Discard)
		}
		return 0
	}
}

type feeRow struct {
	Kind   string               `bson:"kind" json:"kind"`
	Base   primitive.Decimal128 `bson:"base" json:"base"`
	Rate   primitive.Decimal128 `bson:"rate" json:"rate"`
	Amount primitive.Decimal128 `bson:"amount" json:"amount"`
}

type saleRow struct {
	SaleID        int64                `bson:"_id" json:"saleId"`
	OrderNo       string               `bson:"orderNo" json:"orderNo"`
	MerchantName  string               `bson:"merchantName" json:"merchantName"`
	ProductName   string               `bson:"productName" json:"productName"`
	OrderedAt     time.Time            `bson:"orderedAt" json:"orderedAt"`
	PayDue        *time.Time           `bson:"payDue" json:"payDue"`
	PaidOut       *time.Time           `bson:"paidOut" json:"paidOut"`
	Status        string               `bson:"status" json:"status"`
	Installment   *int64               `bson:"installment" json:"installment"`
	Open          bool                 `bson:"open" json:"open"`
	PaymentAmount primitive.Decimal128 `bson:"paymentAmount" json:"paymentAmount"`
	Amount        primitive.Decimal128 `bson:"amount" json:"amount"`
	Lines         []feeRow             `bson:"lines" json:"lines"`
	HoldReason    *string              `bson:"holdReason" json:"holdReason"`
}

func viaStruct(d bson.Raw) int {
	var row saleRow
	if err := bson.Unmarshal(d, &row); err != nil {
		panic(err)
	}
	out, err := json.Marshal(row)
	if err != nil {
		panic(err)
	}
	return len(out)
}

func viaMap(d bson.Raw) int {
	var row bson.M
	if err := bson.Unmarshal(d, &row); err != nil {
		panic(err)
	}
	out, err := json.Marshal(row)
	if err != nil {
		panic(err)
	}
	return len(out)
}

func viaExtJSON(d bson.Raw) int {
	out, err := bson.MarshalExtJSON(d, true, false)
	if err != nil {
		panic(err)
	}
	return len(out)
}

// response is a FlushWriter over a real response; every 0 never flushes.
type response struct {
	http.ResponseWriter
	c     *http.ResponseController
	never bool
}

func (r response) Flush() error {
	if r.never {
		return nil
	}
	return r.c.Flush()
}

// BenchmarkFlushCadence streams 80,000 rows over loopback HTTP with one write and one flush
// every so many rows. "row+newline" is what was done in the field: two writes and a flush a row.
func BenchmarkFlushCadence(b *testing.B) {
	docs := realistic(benchRows)
	l := layout(b, export.Config{Location: seoul(b)})
	for _, every := range []int{1, 100, 1000, 0} {
		name := "rows=" + strconv.Itoa(every)
		if every == 0 {
			name = "never"
		}
		b.Run(name, func(b *testing.B) {
			download(b, func(w http.ResponseWriter) error {
				o := export.Options{Rows: every, Every: time.Hour}
				out := response{w, http.NewResponseController(w), every == 0}
				_, err := export.Stream(context.Background(), &batches{docs: docs}, export.NewNDJSON(l, false), out, o)
				return err
			})
		})
	}
	b.Run("row+newline", func(b *testing.B) {
		download(b, func(w http.ResponseWriter) error { return perLine(w, docs, l) })
	})
}

func perLine(w http.ResponseWriter, docs []bson.Raw, l *export.Layout) error {
	c, o := http.NewResponseController(w), export.NewObject(l)
	var line []byte
	for _, d := range docs {
		var err error
		if line, err = o.Append(line[:0], d); err != nil {
			return err
		}
		_, _ = w.Write(line)
		_, _ = io.WriteString(w, "\n")
		if err := c.Flush(); err != nil {
			return err
		}
	}
	return nil
}

func download(b *testing.B, handle func(http.ResponseWriter) error) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if err := handle(w); err != nil {
			panic(http.ErrAbortHandler)
		}
	}))
	defer srv.Close()
	defer http.DefaultClient.CloseIdleConnections()
	for b.Loop() {
		resp, err := http.Get(srv.URL)
		if err != nil {
			b.Fatal(err)
		}
		n, err := io.Copy(io.Discard, bufio.NewReaderSize(resp.Body, 1<<16))
		resp.Body.Close()
		if err != nil {
			b.Fatal(err)
		}
		b.SetBytes(n)
	}
}
