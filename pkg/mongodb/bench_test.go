package mongodb_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo/options"

	"prejoin/pkg/mongodb"
)

// settlement is a document of the size and shape of the bundled model's.
func settlement(t testing.TB, id int64, v mongodb.Version) mongodb.Write {
	day := time.Unix(1_700_000_000, 0)
	fields := bson.D{}
	for i := range 14 {
		fields = append(fields, bson.E{Key: fmt.Sprintf("textField%d", i), Value: "정산 대상 상품 이름입니다"})
	}
	for i := range 6 {
		fields = append(fields, bson.E{Key: fmt.Sprintf("dateField%d", i), Value: day}, bson.E{Key: fmt.Sprintf("amount%d", i), Value: decimal(t, "12345678.90")})
	}
	line := bson.D{{Key: "kind", Value: "PG_FEE"}, {Key: "base", Value: decimal(t, "1000.00")}, {Key: "rate", Value: decimal(t, "0.02500")}, {Key: "amount", Value: decimal(t, "25.00")}}
	return row(t, id, shard, v, append(fields, bson.E{Key: "lines", Value: bson.A{line, line, line}})...)
}

func settlements(t testing.TB, n int, v mongodb.Version) (writes []mongodb.Write, size int64) {
	for i := range n {
		w := settlement(t, int64(i), v)
		writes = append(writes, w)
		size += int64(len(w.Doc))
	}
	return writes, size
}

var benchRank atomic.Int64

// BenchmarkApply writes 1,000 documents, each newer than what is there: by
// Apply, and by the driver alone with the same updates already encoded.
func BenchmarkApply(b *testing.B) {
	db := open(b)
	c := clock(b, db)
	run := func(name string, write func(mongodb.Bulk)) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				b.StopTimer()
				v := version(1, benchRank.Add(1))
				writes, size := settlements(b, 1000, v)
				b.SetBytes(size)
				one := bulk(c, shard, v, writes...)
				b.StartTimer()
				write(one)
			}
		})
	}
	for range 3 { // interleaved, for the machine's other load
		run("bare", func(one mongodb.Bulk) {
			b.StopTimer()
			models, err := one.Models()
			b.StartTimer()
			if err == nil {
				_, err = db.Raw().Collection(collection).BulkWrite(b.Context(), models, options.BulkWrite().SetOrdered(false))
			}
			if err != nil {
				b.Fatal(err)
			}
		})
		run("apply", func(one mongodb.Bulk) {
			if outcomes, err := db.Apply(b.Context(), one); err != nil || outcomes[999] != mongodb.Applied {
				b.Fatal(outcomes, err)
			}
		})
	}
}

// BenchmarkEncode is what a bulk costs before it is sent.
func BenchmarkEncode(b *testing.B) {
	db := open(b)
	v := version(1, 1)
	writes, size := settlements(b, 1000, v)
	one := bulk(clock(b, db), shard, v, writes...)
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := one.Models(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkScan reads by batches of 1,000.
func BenchmarkScan(b *testing.B) {
	db := open(b)
	const n = 20_000
	for first := 0; first < n; first += 1000 {
		var docs []bson.Raw
		for i := range 1000 {
			docs = append(docs, settlement(b, int64(first+i), version(1, 1)).Doc)
		}
		if _, err := db.Insert(b.Context(), collection, docs); err != nil {
			b.Fatal(err)
		}
		b.SetBytes(int64(len(docs[0]) * n))
	}
	b.ReportAllocs()
	for b.Loop() {
		cursor, err := db.Find(b.Context(), mongodb.Find{Collection: collection, Sort: byID})
		if err != nil {
			b.Fatal(err)
		}
		count := 0
		for {
			batch, err := cursor.Next(b.Context())
			if err != nil {
				break
			}
			count += len(batch)
		}
		cursor.Close()
		if count != n {
			b.Fatal(count)
		}
	}
}
