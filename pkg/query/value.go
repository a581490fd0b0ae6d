package query

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/bson/primitive"

	"prejoin/pkg/readmodel"
)

const (
	maxText    = 1024 // bytes of a text value
	maxDecimal = 34   // digits that Decimal128 holds exactly
)

// typed reads a value as its field's type: int64, primitive.Decimal128, string,
// bool or primitive.DateTime. Nothing else can come out, so no operator can.
func typed(f *readmodel.Field, s string) (any, error) {
	switch f.Type {
	case readmodel.Int64:
		return integer(f, s)
	case readmodel.Decimal:
		return decimal(f, s)
	case readmodel.Bool:
		return boolean(f, s)
	case readmodel.Enum:
		return enum(f, s)
	case readmodel.Date:
		return date(f, s)
	case readmodel.Timestamp:
		return instant(f, s)
	case readmodel.Text:
		return text(f, s)
	}
	return nil, badParameter("%s cannot be filtered; it is of type %s.", f.Name, f.Type)
}

func integer(f *readmodel.Field, s string) (any, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || s[0] == '+' {
		return nil, badParameter("%s=%s is not a whole number of 64 bits; give one such as %s=42.", f.Name, short(s), f.Name)
	}
	return n, nil
}

// decimal takes plain digits only: no exponent, no NaN, and no more digits than
// are kept exactly.
func decimal(f *readmodel.Field, s string) (any, error) {
	whole, fraction, point := strings.Cut(strings.TrimPrefix(s, "-"), ".")
	digits := isDigits(whole) && (!point || isDigits(fraction)) && len(whole)+len(fraction) <= maxDecimal
	d, err := primitive.ParseDecimal128(s)
	if err != nil || !digits {
		return nil, badParameter("%s=%s is not a decimal of at most %d digits; give one such as %s=12000.50.", f.Name, short(s), maxDecimal, f.Name)
	}
	return d, nil
}

func isDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

func boolean(f *readmodel.Field, s string) (any, error) {
	if s != "true" && s != "false" {
		return nil, badParameter("%s=%s is neither true nor false.", f.Name, short(s))
	}
	return s == "true", nil
}

func enum(f *readmodel.Field, s string) (any, error) {
	names := make([]string, len(f.Values))
	for i, v := range f.Values {
		if v.Value == s {
			return s, nil
		}
		names[i] = v.Value
	}
	return nil, badParameter("%s=%s is not one of its values; give %s.", f.Name, short(s), joinOr(names))
}

func text(f *readmodel.Field, s string) (any, error) {
	if len(s) > maxText || !utf8.ValidString(s) {
		return nil, badParameter("%s must be UTF-8 text of at most %d bytes.", f.Name, maxText)
	}
	return s, nil
}

// day reads YYYY-MM-DD.
func day(s string) (y int, m time.Month, d int, ok bool) {
	t, err := time.Parse(time.DateOnly, s)
	if err != nil || t.Year() < 1 {
		return 0, 0, 0, false
	}
	return t.Year(), t.Month(), t.Day(), true
}

func date(f *readmodel.Field, s string) (any, error) {
	y, m, d, ok := day(s)
	if !ok {
		return nil, badParameter("%s=%s is not a date; give one such as %s=2026-11-30.", f.Name, short(s), f.Name)
	}
	return primitive.NewDateTimeFromTime(time.Date(y, m, d, 0, 0, 0, 0, time.UTC)), nil
}

// instant reads RFC 3339 with at most milliseconds: finer than what is stored
// would be compared as something else than was asked.
func instant(f *readmodel.Field, s string) (any, error) {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil || t.Nanosecond()%int(time.Millisecond) != 0 || t.UTC().Year() < 1 {
		return nil, badParameter("%s=%s is neither a date such as 2026-11-30 nor an instant with an offset and at most milliseconds such as 2026-11-30T09:00:00%%2B09:00 (a + must be sent as %%2B).", f.Name, short(s))
	}
	return primitive.NewDateTimeFromTime(t), nil
}
