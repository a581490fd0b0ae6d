package document

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/bson/primitive"
	"go.mongodb.org/mongo-driver/x/bsonx/bsoncore"

	"prejoin/pkg/readmodel"
)

// ValueError is a value that the model's type cannot hold. Trying again gives
// the same: the row or the model must change.
type ValueError struct {
	Field string
	Type  readmodel.Type
	Value string
	Why   string
}

func (e *ValueError) Error() string {
	return fmt.Sprintf("field %s of type %s cannot hold %q: %s", e.Field, e.Type, shortened(e.Value), e.Why)
}

func shortened(s string) string {
	const limit = 60
	if len(s) <= limit {
		return s
	}
	cut := limit
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}

// appendElement appends the field with its value, given in PostgreSQL's text form.
func appendElement(dst []byte, key string, f *readmodel.Field, text []byte) ([]byte, error) {
	if text == nil {
		return bsoncore.AppendNullElement(dst, key), nil
	}
	dst, why := appendTyped(dst, key, f, text)
	if why != "" {
		return dst, &ValueError{Field: f.Name, Type: f.Type, Value: string(text), Why: why}
	}
	return dst, nil
}

func appendTyped(dst []byte, key string, f *readmodel.Field, text []byte) ([]byte, string) {
	switch f.Type {
	case readmodel.Int64:
		n, err := strconv.ParseInt(string(text), 10, 64)
		return bsoncore.AppendInt64Element(dst, key, n), because(err, "not a 64-bit integer")
	case readmodel.Decimal:
		d, why := decimal(text, f.Scale)
		return bsoncore.AppendDecimal128Element(dst, key, d), why
	case readmodel.Bool:
		return bsoncore.AppendBooleanElement(dst, key, text[0] == 't'), ""
	case readmodel.Enum:
		return bsoncore.AppendStringElement(dst, key, string(text)), unlisted(f, text)
	case readmodel.Date:
		t, why := date(text)
		return bsoncore.AppendDateTimeElement(dst, key, t), why
	case readmodel.Timestamp:
		t, why := timestamp(text)
		return bsoncore.AppendDateTimeElement(dst, key, t), why
	default:
		return bsoncore.AppendStringElement(dst, key, string(text)), ""
	}
}

func because(err error, why string) string {
	if err == nil {
		return ""
	}
	return why
}

func unlisted(f *readmodel.Field, text []byte) string {
	listed := slices.ContainsFunc(f.Values, func(v readmodel.EnumValue) bool { return v.Value == string(text) })
	if listed {
		return ""
	}
	return "it is not one of the model's values; add it to them"
}

// decimal reads PostgreSQL's numeric with exactly scale fraction digits.
func decimal(text []byte, scale int) (primitive.Decimal128, string) {
	digits, negative, have, why := plainDecimal(text)
	if why != "" {
		return primitive.Decimal128{}, why
	}
	for ; have > scale; have-- {
		if last := len(digits) - 1; digits[last] != '0' {
			return primitive.Decimal128{}, fmt.Sprintf("it has more than %d fraction digits; raise the scale or round it in SQL", scale)
		}
		digits = digits[:len(digits)-1]
	}
	for ; have < scale; have++ {
		digits = append(digits, '0')
	}
	return encodeDecimal(digits, negative, scale)
}

// plainDecimal splits [-]digits[.digits]; have is the number of fraction digits.
func plainDecimal(text []byte) (digits []byte, negative bool, have int, why string) {
	point := -1
	digits = make([]byte, 0, len(text)+4)
	for i, c := range text {
		switch {
		case c == '-' && i == 0:
			negative = true
		case c == '.' && point < 0:
			point = len(digits)
		case c >= '0' && c <= '9':
			digits = append(digits, c)
		default: // NaN, Infinity
			return nil, false, 0, "it is not a finite decimal number"
		}
	}
	if point >= 0 {
		have = len(digits) - point
	}
	return digits, negative, have, ""
}

// decimalBias is the exponent bias of IEEE 754 decimal128 in the binary integer
// encoding that BSON uses; 34 digits is what it holds.
const (
	decimalBias   = 6176
	decimalDigits = 34
)

func encodeDecimal(digits []byte, negative bool, scale int) (primitive.Decimal128, string) {
	digits = trimZeros(digits)
	if len(digits) > decimalDigits {
		return primitive.Decimal128{}, fmt.Sprintf("it has more than %d digits", decimalDigits)
	}
	high := uint64(decimalBias-scale) << 49 //nolint:gosec // 0 ≤ scale ≤ 34
	if negative {
		high |= 1 << 63
	}
	if len(digits) <= 19 { // fits a uint64
		low, err := strconv.ParseUint(string(digits), 10, 64)
		return primitive.NewDecimal128(high, low), because(err, "it is not a decimal number")
	}
	coefficient, ok := new(big.Int).SetString(string(digits), 10)
	if !ok {
		return primitive.Decimal128{}, "it is not a decimal number"
	}
	low := new(big.Int).And(coefficient, new(big.Int).SetUint64(^uint64(0))).Uint64()
	return primitive.NewDecimal128(high|new(big.Int).Rsh(coefficient, 64).Uint64(), low), ""
}

func trimZeros(digits []byte) []byte {
	for len(digits) > 1 && digits[0] == '0' {
		digits = digits[1:]
	}
	return digits
}

// date reads YYYY-MM-DD as milliseconds at 00:00 UTC.
func date(text []byte) (int64, string) {
	t, err := time.Parse("2006-01-02", string(text))
	return t.UnixMilli(), because(err, "a date must lie in the years 0001 to 9999")
}

// timestamp reads the ISO form in UTC, "2026-11-30 10:11:12.345+00".
func timestamp(text []byte) (int64, string) {
	t, err := time.Parse("2006-01-02 15:04:05-07", string(text))
	if err != nil {
		return 0, "a timestamp must lie in the years 0001 to 9999"
	}
	if t.Nanosecond()%int(time.Millisecond) != 0 {
		return 0, "it has microseconds, which a BSON date cannot hold; cast the column to timestamptz(3) in the model's SQL"
	}
	return t.UnixMilli(), ""
}
