package document

import (
	"errors"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/primitive"
	"pgregory.net/rapid"

	"prejoin/pkg/readmodel"
)

// value builds one element and returns it as canonical extended JSON, or the error's text.
func value(t *testing.T, f readmodel.Field, text string) string {
	t.Helper()
	f.Name = "f"
	element, err := appendElement([]byte{0, 0, 0, 0}, "f", &f, []byte(text))
	var valueErr *ValueError
	if errors.As(err, &valueErr) {
		return "error: " + valueErr.Why
	}
	if err != nil {
		t.Fatal(err)
	}
	raw := append(element, 0)
	raw[0] = byte(len(raw))
	out, err := bson.MarshalExtJSON(bson.Raw(raw), true, false)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(strings.TrimPrefix(string(out), `{"f":`), "}")
}

func TestValuesAreExact(t *testing.T) {
	f := func(field readmodel.Field, text, want string) {
		t.Helper()
		if got := value(t, field, text); got != want {
			t.Errorf("%s %q: got %s, want %s", field.Type, text, got, want)
		}
	}
	integer, money, rate := readmodel.Field{Type: readmodel.Int64}, readmodel.Field{Type: readmodel.Decimal, Scale: 2}, readmodel.Field{Type: readmodel.Decimal, Scale: 5}
	f(integer, "9223372036854775807", `{"$numberLong":"9223372036854775807"}`)
	f(integer, "-9223372036854775808", `{"$numberLong":"-9223372036854775808"}`)
	f(integer, "9223372036854775808", "error: not a 64-bit integer")
	f(money, "9999999999999999.99", `{"$numberDecimal":"9999999999999999.99"}`)
	f(money, "-0.01", `{"$numberDecimal":"-0.01"}`)
	f(money, "0.00", `{"$numberDecimal":"0.00"}`)
	f(money, "12", `{"$numberDecimal":"12.00"}`)
	f(money, "12.3000", `{"$numberDecimal":"12.30"}`)
	f(money, "12.345", "error: it has more than 2 fraction digits; raise the scale or round it in SQL")
	f(money, "NaN", "error: it is not a finite decimal number")
	f(money, "Infinity", "error: it is not a finite decimal number")
	f(money, "123456789012345678901234567890.12", `{"$numberDecimal":"123456789012345678901234567890.12"}`)
	f(money, "123456789012345678901234567890123.12", "error: it has more than 34 digits")
	f(rate, "0.03300", `{"$numberDecimal":"0.03300"}`)
	f(readmodel.Field{Type: readmodel.Bool}, "t", "true")
	f(readmodel.Field{Type: readmodel.Text}, "$where \x01 홍길동 \U0001F600", `"$where \u0001 홍길동 😀"`)
	f(readmodel.Field{Type: readmodel.Enum, Values: []readmodel.EnumValue{{Value: "PAID"}}}, "PAID", `"PAID"`)
	f(readmodel.Field{Type: readmodel.Enum, Values: []readmodel.EnumValue{{Value: "PAID"}}}, "LOST", "error: it is not one of the model's values; add it to them")
	f(readmodel.Field{Type: readmodel.Date}, "2026-11-30", `{"$date":{"$numberLong":"1795996800000"}}`)
	f(readmodel.Field{Type: readmodel.Date}, "infinity", "error: a date must lie in the years 0001 to 9999")
	f(readmodel.Field{Type: readmodel.Date}, "0044-03-15 BC", "error: a date must lie in the years 0001 to 9999")
	stamp := readmodel.Field{Type: readmodel.Timestamp}
	f(stamp, "2026-11-30 10:11:12.345+00", `{"$date":{"$numberLong":"1796033472345"}}`)
	f(stamp, "2026-11-30 10:11:12+00", `{"$date":{"$numberLong":"1796033472000"}}`)
	f(stamp, "2026-11-30 10:11:12.345678+00", "error: it has microseconds, which a BSON date cannot hold; cast the column to timestamptz(3) in the model's SQL")
	f(stamp, "infinity", "error: a timestamp must lie in the years 0001 to 9999")
}

// TestDecimalsAgreeWithTheDriver compares the fast encoder with the driver's parser.
func TestDecimalsAgreeWithTheDriver(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scale := rapid.IntRange(0, 10).Draw(t, "scale")
		text := rapid.StringMatching(`-?(0|[1-9][0-9]{0,22})`).Draw(t, "whole")
		if scale > 0 {
			text += "." + rapid.StringOfN(rapid.RuneFrom([]rune("0123456789")), scale, scale, -1).Draw(t, "fraction")
		}
		want, err := primitive.ParseDecimal128(text)
		if err != nil {
			t.Skip("the driver cannot hold it")
		}
		got, why := decimal([]byte(text), scale)
		if why != "" || got != want {
			t.Fatalf("%q: got %v (%s), want %v", text, got, why, want)
		}
	})
}
