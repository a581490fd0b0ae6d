package query

import (
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/primitive"

	"prejoin/pkg/readmodel"
)

const maxIn = 100 // values in one in: list

// condition is one filter: a field, and either values it may have or a range.
type condition struct {
	field    *readmodel.Field
	values   []any // equal (one) or in (2..100); nil for a range
	from, to any   // bounds of a range; nil is open
	toOpen   bool  // to itself is outside
}

func (c condition) ranged() bool { return c.values == nil }

// clause is the condition as a filter on the stored key.
func (c condition) clause(key string) bson.D {
	if !c.ranged() {
		return bson.D{{Key: key, Value: oneOf(c.values)}}
	}
	var bounds bson.D
	if c.from != nil {
		bounds = append(bounds, bson.E{Key: "$gte", Value: c.from})
	}
	if c.to != nil {
		op := "$lte"
		if c.toOpen {
			op = "$lt"
		}
		bounds = append(bounds, bson.E{Key: op, Value: c.to})
	}
	return bson.D{{Key: key, Value: bounds}}
}

// parseCondition reads one filter's text: eq:TEXT is TEXT itself, in:A,B,C a
// list, A..B a range where the model has one on the field, else one value.
func parseCondition(f *readmodel.Field, s string, rangeable bool, z *time.Location) (condition, error) {
	if rest, ok := strings.CutPrefix(s, "eq:"); ok {
		return equal(f, []string{rest})
	}
	if rest, ok := strings.CutPrefix(s, "in:"); ok {
		return equal(f, splitList(rest))
	}
	if from, to, ok := strings.Cut(s, ".."); ok && rangeable && f.Type != readmodel.Enum && f.Type != readmodel.Bool {
		return between(f, from, to, z)
	}
	if _, _, _, ok := day(s); ok && f.Type == readmodel.Timestamp {
		return between(f, s, s, z)
	}
	return equal(f, []string{s})
}

// splitList splits at commas; a backslash takes the next character as it is.
func splitList(s string) []string {
	var parts []string
	var part strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s):
			i++
			part.WriteByte(s[i])
		case s[i] == ',':
			parts = append(parts, part.String())
			part.Reset()
		default:
			part.WriteByte(s[i])
		}
	}
	return append(parts, part.String())
}

func equal(f *readmodel.Field, texts []string) (condition, error) {
	if len(texts) > maxIn {
		return condition{}, badParameter("%s=in: has %d values; give at most %d.", f.Name, len(texts), maxIn)
	}
	c := condition{field: f}
	seen := map[any]bool{}
	for _, t := range texts {
		v, err := typed(f, t)
		if err != nil {
			return condition{}, err
		}
		if !seen[v] {
			seen[v] = true
			c.values = append(c.values, v)
		}
	}
	return c, nil
}

func between(f *readmodel.Field, from, to string, z *time.Location) (condition, error) {
	if from == "" && to == "" {
		return condition{}, badParameter("%s=.. has neither a beginning nor an end; give one, or leave %s out.", f.Name, f.Name)
	}
	c := condition{field: f, toOpen: f.Type == readmodel.Timestamp}
	var err error
	if from != "" {
		if c.from, err = bound(f, from, 0, z); err != nil {
			return c, err
		}
	}
	if to != "" {
		if c.to, err = bound(f, to, 1, z); err != nil {
			return c, err
		}
	}
	if c.from != nil && c.to != nil && greater(c.from, c.to) {
		return c, badParameter("%s=%s..%s ends before it begins; give the earlier or smaller end first.", f.Name, short(from), short(to))
	}
	return c, nil
}

// bound is one end of a range. A plain date on a timestamp is the beginning of
// that day in the zone, and as an end (days = 1) of the day after it.
func bound(f *readmodel.Field, s string, days int, z *time.Location) (any, error) {
	y, m, d, ok := day(s)
	if f.Type != readmodel.Timestamp || !ok {
		return typed(f, s)
	}
	next := time.Date(y, m, d+days, 0, 0, 0, 0, time.UTC)
	return primitive.NewDateTimeFromTime(startOfDay(next.Year(), next.Month(), next.Day(), z)), nil
}

// greater compares two values of one type; decimals are compared exactly.
func greater(a, b any) bool {
	switch a := a.(type) {
	case int64:
		return a > b.(int64)
	case primitive.DateTime:
		return a > b.(primitive.DateTime)
	case string:
		return a > b.(string)
	case primitive.Decimal128:
		return greaterDecimal(a, b.(primitive.Decimal128))
	}
	return false
}

func greaterDecimal(a, b primitive.Decimal128) bool {
	x, xe, errX := a.BigInt()
	y, ye, errY := b.BigInt()
	if errX != nil || errY != nil {
		return false
	}
	low := min(xe, ye)
	return x.Mul(x, pow10(xe-low)).Cmp(y.Mul(y, pow10(ye-low))) > 0
}
