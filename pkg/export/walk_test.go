package export_test

import (
	"encoding/json"
	"errors"
	"testing"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/primitive"

	"prejoin/pkg/export"
)

// TestKeyThatStartsLikeAField puts longer and shorter keys where a field was seen before.
func TestKeyThatStartsLikeAField(t *testing.T) {
	enc := export.NewNDJSON(layout(t, export.Config{Columns: []string{"saleId", "amount"}}), false)
	id := bson.E{Key: "_id", Value: int64(1)}
	for _, key := range []string{"amount", "amount2", "amoun", "", "amount"} {
		want := "{\"saleId\":1,\"amount\":null}\n"
		if key == "amount" {
			want = "{\"saleId\":1,\"amount\":2.50}\n"
		}
		if got := encode(t, enc, bson.D{id, {Key: key, Value: dec("2.50")}}); got != want {
			t.Errorf("key %q: got %s", key, got)
		}
	}
}

func TestStringWithoutItsEnd(t *testing.T) {
	doc := raw(bson.D{{Key: "orderNo", Value: "abc"}})
	doc[len(doc)-2] = 'x'
	if err := export.NewNDJSON(layout(t, export.Config{}), false).Row(doc); !errors.Is(err, export.ErrDocument) {
		t.Errorf("got %v", err)
	}
}

// TestDecimalBits sets every bit of a Decimal128 alone and beside an exponent of −2.
func TestDecimalBits(t *testing.T) {
	l := layout(t, export.Config{Columns: []string{"holdReason"}})
	for bit := range 128 {
		for _, high := range []uint64{0, (6176 - 2) << 49} {
			low := uint64(7)
			if bit < 64 {
				low ^= 1 << bit
			} else {
				high ^= 1 << (bit - 64)
			}
			d := primitive.NewDecimal128(high, low)
			want := `{"holdReason":"` + d.String() + "\"}\n"
			if got := encode(t, export.NewNDJSON(l, false), bson.D{{Key: "holdReason", Value: d}}); got != want {
				t.Errorf("bit %d: got %s want %s", bit, got, want)
			}
		}
	}
}

// FuzzDocument: no bytes make an encoder or the digest panic, and what the driver
// takes for a document is exported as valid JSON.
func FuzzDocument(f *testing.F) {
	f.Add([]byte(raw(whole())))
	f.Add([]byte(raw(bson.D{{Key: "lines", Value: bson.A{int32(1), primitive.Regex{Pattern: "a"}, primitive.CodeWithScope{Code: "x", Scope: bson.D{}}}}})))
	l, rowsLayout := mustLayout(export.Config{}), mustLayout(export.Config{Lines: export.LinesRows})
	f.Fuzz(func(t *testing.T, doc []byte) {
		enc := export.NewNDJSON(l, false)
		err := enc.Row(doc)
		if err != nil && !errors.Is(err, export.ErrDocument) {
			t.Fatal(err)
		}
		if line := flushed(enc); err == nil && !json.Valid([]byte(line)) {
			t.Fatalf("not JSON: %s", line)
		}
		_ = export.NewCSV(rowsLayout, export.CSVConfig{}).Row(doc)
		if digestErr := export.NewDigest(l).Add(doc); err == nil && digestErr != nil {
			t.Fatalf("encoded, but not hashed: %v", digestErr)
		}
	})
}
