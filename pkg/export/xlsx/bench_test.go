package xlsx_test

import (
	"fmt"
	"io"
	"runtime"
	"testing"
	"time"

	tealeg "github.com/tealeg/xlsx/v3"
	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/primitive"

	"prejoin/pkg/export"
	"prejoin/pkg/export/xlsx"
	"prejoin/pkg/readmodel"
)

const benchRows = 80_000

// wideModel has the 15 columns of a settlement report.
func wideModel() *readmodel.Model {
	m := &readmodel.Model{Name: "wide", Version: 1, ID: "id"}
	add := func(t readmodel.Type, names ...string) {
		for _, n := range names {
			m.Fields = append(m.Fields, readmodel.Field{Name: n, Type: t, Scale: 2, Format: map[readmodel.Type]string{readmodel.Decimal: "#,##0"}[t]})
		}
	}
	add(readmodel.Int64, "id", "merchantId")
	add(readmodel.Text, "orderNo", "productOrderNo", "merchantName", "productName")
	add(readmodel.Timestamp, "orderedAt", "paidAt")
	add(readmodel.Date, "payDue", "paidOut")
	add(readmodel.Enum, "status", "method")
	add(readmodel.Decimal, "paymentAmount", "fee", "amount")
	return m
}

func wideDocs(b testing.TB, n int) []bson.Raw {
	docs := make([]bson.Raw, n)
	for i := range docs {
		at := primitive.NewDateTimeFromTime(ordered.Add(time.Duration(i) * 7 * time.Second))
		day := primitive.DateTime((20_000 + int64(i%300)) * 86_400_000)
		amount := func(k int) primitive.Decimal128 { return dec(fmt.Sprintf("%d.%02d", (i*k)%9_000_000, i%100)) }
		docs[i] = raw(b, bson.D{
			{Key: "_id", Value: int64(i)*64 + 1}, {Key: "merchantId", Value: int64(i % 500)},
			{Key: "orderNo", Value: fmt.Sprintf("%016d", i*7919)}, {Key: "productOrderNo", Value: fmt.Sprintf("%016d", i*104_729)},
			{Key: "merchantName", Value: fmt.Sprintf("가맹점 %d호", i%500)},
			{Key: "productName", Value: fmt.Sprintf("여름 한정 무료배송 린넨 셔츠 %d번 색상", i%977)},
			{Key: "orderedAt", Value: at}, {Key: "paidAt", Value: at}, {Key: "payDue", Value: day}, {Key: "paidOut", Value: day},
			{Key: "status", Value: "PAID"}, {Key: "method", Value: "CARD"},
			{Key: "paymentAmount", Value: amount(7)}, {Key: "fee", Value: amount(3)}, {Key: "amount", Value: amount(5)},
		})
	}
	return docs
}

func writeWide(b testing.TB, docs []bson.Raw, level int, w io.Writer) {
	l, err := export.NewLayout(wideModel(), export.Config{Location: seoul()})
	if err != nil {
		b.Fatal(err)
	}
	e, err := xlsx.New(l, xlsx.Config{Level: level})
	if err != nil {
		b.Fatal(err)
	}
	_ = e.Begin()
	for i, d := range docs {
		if err := e.Row(d); err != nil {
			b.Fatal(err)
		}
		if i%1000 == 999 {
			_ = e.Flush(w)
		}
	}
	if err := e.End(export.Summary{}); err != nil {
		b.Fatal(err)
	}
	_ = e.Flush(w)
}

type counted int64

func (c *counted) Write(p []byte) (int, error) { *c += counted(len(p)); return len(p), nil }

func BenchmarkWrite(b *testing.B) {
	docs := wideDocs(b, benchRows)
	for level := 1; level <= 6; level++ {
		b.Run(fmt.Sprintf("level=%d", level), func(b *testing.B) {
			b.ReportAllocs()
			var n counted
			for b.Loop() {
				n = 0
				writeWide(b, docs, level, &n)
			}
			b.ReportMetric(float64(n)/1e6, "file_MB")
		})
	}
	b.Run("tealeg", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			viaTealeg(b, docs)
		}
	})
}

func viaTealeg(b *testing.B, docs []bson.Raw) {
	f := tealeg.NewFile()
	sh, err := f.AddSheet("Sheet1")
	if err != nil {
		b.Fatal(err)
	}
	for _, d := range docs {
		elements, err := d.Elements()
		if err != nil {
			b.Fatal(err)
		}
		row := sh.AddRow()
		for _, el := range elements {
			tealegCell(row.AddCell(), el.Value())
		}
	}
	if err := f.Write(io.Discard); err != nil {
		b.Fatal(err)
	}
}

func tealegCell(c *tealeg.Cell, v bson.RawValue) {
	switch v.Type {
	case bson.TypeInt64:
		c.SetInt64(v.Int64())
	case bson.TypeString:
		c.SetString(v.StringValue())
	case bson.TypeDateTime:
		c.SetDateTime(v.Time())
	case bson.TypeDecimal128:
		c.SetNumeric(v.Decimal128().String())
		c.NumFmt = "#,##0"
	}
}

// TestMemoryIsBounded: the heap does not grow with the rows (law 6): the
// zip of 17,000 more rows is over 2 MB, their XML 20 MB.
func TestMemoryIsBounded(t *testing.T) {
	docs := wideDocs(t, 1000)
	peak := func(times int) uint64 {
		all := make([]bson.Raw, 0, times*len(docs))
		for range times {
			all = append(all, docs...)
		}
		w := &heapPeak{}
		writeWide(t, all, 1, w)
		return w.peak
	}
	small, large := peak(3), peak(20)
	if large > small+1<<20 {
		t.Errorf("the heap's peak is %d kB after 3,000 rows and %d kB after 20,000", small>>10, large>>10)
	}
}

type heapPeak struct {
	peak   uint64
	writes int
}

func (h *heapPeak) Write(p []byte) (int, error) {
	if h.writes++; h.writes%2 != 0 {
		return len(p), nil
	}
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	h.peak = max(h.peak, m.HeapAlloc)
	return len(p), nil
}
