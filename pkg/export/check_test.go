package export_test

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/primitive"
	"pgregory.net/rapid"

	"prejoin/pkg/export"
)

func mustLayout(cfg export.Config) *export.Layout {
	l, err := export.NewLayout(sale(), cfg)
	if err != nil {
		panic(err)
	}
	return l
}

func flushed(enc export.Encoder) string {
	var out bytes.Buffer
	_ = enc.Flush(&out)
	return out.String()
}

// checkNumbers reads the line as a client does: numbers as text.
func checkNumbers(t *rapid.T, enc export.Encoder, id int64, amount primitive.Decimal128) {
	line := flushed(enc)
	dec := json.NewDecoder(strings.NewReader(line))
	dec.UseNumber()
	var row struct {
		SaleID json.Number `json:"saleId"`
		Amount any         `json:"amount"`
	}
	if err := dec.Decode(&row); err != nil {
		t.Fatalf("%v in %s", err, line)
	}
	number, finite := row.Amount.(json.Number)
	if !finite {
		number = json.Number(row.Amount.(string))
	}
	if row.SaleID.String() != strconv.FormatInt(id, 10) || number.String() != amount.String() {
		t.Fatalf("%d %s left as %s", id, amount, line)
	}
	if finite == (amount.IsNaN() || amount.IsInf() != 0) || finite == (len(enc.Reported()) > 0) {
		t.Fatalf("%s left as %s, reported %v", amount, line, enc.Reported())
	}
}

func checkTime(t *rapid.T, enc export.Encoder, ms int64, loc *time.Location) {
	if err := enc.Row(raw(bson.D{{Key: "orderedAt", Value: primitive.DateTime(ms)}})); err != nil {
		t.Fatal(err)
	}
	at := time.UnixMilli(ms).In(loc)
	if _, offset := at.Zone(); offset%60 != 0 {
		at = at.UTC()
	}
	want := at.Format("2006-01-02T15:04:05.000Z07:00")
	if got := flushed(enc); got != "{\"orderedAt\":\""+want+"\"}\n" {
		t.Fatalf("%d: got %s want %s", ms, got, want)
	}
}
