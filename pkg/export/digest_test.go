package export_test

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/primitive"
	"pgregory.net/rapid"

	"prejoin/pkg/export"
)

// anyDecimal draws any of the 2^128 bit patterns: money, odd exponents, NaN, and
// the patterns that no encoder writes.
func anyDecimal(t *rapid.T) primitive.Decimal128 {
	sign := rapid.Uint64Range(0, 1).Draw(t, "sign") << 63
	low := rapid.Uint64().Draw(t, "low")
	switch rapid.IntRange(0, 3).Draw(t, "decimal kind") {
	case 0:
		return primitive.NewDecimal128(rapid.Uint64().Draw(t, "high"), low)
	case 1:
		high := rapid.Uint64Range(0, 1<<49-1).Draw(t, "coefficient")
		return primitive.NewDecimal128(sign|uint64(6176+rapid.IntRange(-40, 40).Draw(t, "exp"))<<49|high, low)
	case 2:
		return primitive.NewDecimal128(sign|uint64(6176+rapid.IntRange(-25, 3).Draw(t, "exp"))<<49, low%1000)
	}
	return primitive.NewDecimal128(sign|(6176-2)<<49, low)
}

func anyString(t *rapid.T) string {
	return rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"\u2028\u2029", "\xff\xe2\x80", "a\xe2\x80\xa8\xe2", "\x00\x1f\x7f\"\\/<>&",
		"€ âêî", "\xed\xa0\x80", "\ufffd"}), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })).Draw(t, "text")
}

func anyValue(t *rapid.T, depth int) any {
	switch rapid.IntRange(0, 13).Draw(t, "kind") {
	case 0:
		return nil
	case 1:
		return rapid.Bool().Draw(t, "bool")
	case 2, 3:
		return rapid.Int64().Draw(t, "int64")
	case 4:
		return rapid.Int32().Draw(t, "int32")
	case 5, 6, 7:
		return anyDecimal(t)
	case 8:
		return primitive.DateTime(rapid.Int64().Draw(t, "date"))
	case 9:
		return rapid.Float64().Draw(t, "double")
	case 10:
		return primitive.Binary{Subtype: 4, Data: rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")}
	case 11:
		if depth < 2 {
			return bson.A{anyValue(t, depth+1), anyValue(t, depth+1)}
		}
	case 12:
		if depth < 2 {
			return bson.D{{Key: "amount", Value: anyValue(t, depth+1)}}
		}
	}
	return anyString(t)
}

// expected is what the digest promises, built with the driver.
func expected(docs []bson.D) string {
	h := sha256.New()
	for _, d := range docs {
		var row bson.D
		for _, f := range sale().Fields {
			row = append(row, bson.E{Key: f.Name, Value: lookup(d, sale().Key(f.Name))})
		}
		line, err := bson.MarshalExtJSON(row, true, false)
		if err != nil {
			panic(err)
		}
		h.Write(append(line, '\n'))
	}
	return hex.EncodeToString(h.Sum(nil))
}

func lookup(d bson.D, key string) (v any) {
	for _, e := range d {
		if e.Key == key {
			v = e.Value
		}
	}
	if key != "lines" {
		return v
	}
	array, _ := v.(bson.A)
	for i := range array {
		if child, ok := array[i].(bson.D); ok {
			array[i] = bson.D{{Key: "kind", Value: lookup(child, "kind")}, {Key: "base", Value: lookup(child, "base")},
				{Key: "rate", Value: lookup(child, "rate")}, {Key: "amount", Value: lookup(child, "amount")}}
		}
	}
	return v
}

func TestDigestIsTheDriversCanonicalJSON(t *testing.T) {
	l := layout(t, export.Config{Columns: []string{"holdReason", "saleId", "lines", "orderNo", "merchantName", "productName", "orderedAt", "payDue",
		"paidOut", "status", "installment", "open", "paymentAmount", "amount"}})
	rapid.Check(t, func(t *rapid.T) {
		digest := export.NewDigest(l)
		var docs []bson.D
		for range rapid.IntRange(0, 4).Draw(t, "rows") {
			d := whole()
			for i := range d {
				if rapid.Bool().Draw(t, "other value") {
					d[i].Value = anyValue(t, 0)
				}
			}
			d = rapid.Permutation(d).Draw(t, "order")[:rapid.IntRange(len(d)/2, len(d)).Draw(t, "keys")]
			docs = append(docs, d)
			if err := digest.Add(raw(d)); err != nil {
				t.Fatal(err)
			}
		}
		if got, want := digest.Sum(), expected(docs); got != want {
			t.Fatalf("got %s, want %s", got, want)
		}
	})
}

func TestNDJSONNumbersAsStored(t *testing.T) {
	l := layout(t, export.Config{Columns: []string{"saleId", "amount"}})
	rapid.Check(t, func(t *rapid.T) {
		id, amount := rapid.Int64().Draw(t, "id"), anyDecimal(t)
		enc := export.NewNDJSON(l, false)
		if err := enc.Row(raw(bson.D{{Key: "_id", Value: id}, {Key: "amount", Value: amount}})); err != nil {
			t.Fatal(err)
		}
		checkNumbers(t, enc, id, amount)
	})
}

// TestTimestamps compares with the standard library in the years that it can format.
func TestTimestamps(t *testing.T) {
	zones := []string{"UTC", "Asia/Seoul", "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe"}
	rapid.Check(t, func(t *rapid.T) {
		zone := rapid.SampledFrom(zones).Draw(t, "zone")
		loc, err := time.LoadLocation(zone)
		if err != nil {
			t.Fatal(err)
		}
		enc := export.NewNDJSON(mustLayout(export.Config{Columns: []string{"orderedAt"}, Location: loc}), false)
		for range 5 {
			ms := rapid.Int64Range(-62_135_596_800_000+86_400_000, 253_402_300_799_999-86_400_000).Draw(t, "ms")
			checkTime(t, enc, ms, loc)
		}
	})
}

func TestTimesOfAnyYear(t *testing.T) {
	for ms, want := range map[int64]string{
		math.MinInt64: "-292275055-05-16T16:47:04.192Z", math.MaxInt64: "+292278994-08-17T07:12:55.807Z",
		253_402_300_800_000: "+010000-01-01T00:00:00.000Z", -62_167_219_200_000: "0000-01-01T00:00:00.000Z",
		-62_167_219_200_001: "-000001-12-31T23:59:59.999Z", -1: "1969-12-31T23:59:59.999Z",
	} {
		enc := export.NewNDJSON(layout(t, export.Config{Columns: []string{"orderedAt"}}), false)
		if got := encode(t, enc, bson.D{{Key: "orderedAt", Value: primitive.DateTime(ms)}}); got != "{\"orderedAt\":\""+want+"\"}\n" {
			t.Errorf("%d: got %s want %s", ms, got, want)
		}
	}
}
