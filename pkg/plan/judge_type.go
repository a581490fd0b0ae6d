package plan

import (
	"fmt"
	"slices"

	"prejoin/pkg/postgres"
	"prejoin/pkg/readmodel"
)

// Object ids of PostgreSQL's types (pg_type.dat).
const (
	oidBool        = 16
	oidInt8        = 20
	oidInt2        = 21
	oidInt4        = 23
	oidBpchar      = 1042
	oidBytea       = 17
	oidDate        = 1082
	oidTimestamp   = 1114
	oidTimestamptz = 1184
	oidNumeric     = 1700
)

// accepted types and what to write for another one.
var accepted = map[readmodel.Type]struct {
	oids []uint32
	cast string
}{
	readmodel.Int64:     {[]uint32{oidInt8, oidInt4, oidInt2}, "::bigint"},
	readmodel.Decimal:   {[]uint32{oidNumeric, oidInt8, oidInt4, oidInt2}, "::numeric(20,2)"},
	readmodel.Bool:      {[]uint32{oidBool}, "::boolean"},
	readmodel.Date:      {[]uint32{oidDate}, "::date"},
	readmodel.Timestamp: {[]uint32{oidTimestamptz}, "::timestamptz(3)"},
}

// fits checks one column against the field it fills.
func (j *judgement) fits(where string, c postgres.ResultColumn, f *readmodel.Field) {
	want, fixed := accepted[f.Type]
	switch {
	case fixed && c.OID == oidTimestamp && f.Type == readmodel.Timestamp:
		j.refuse(where, fmt.Sprintf("column %q is a timestamp without time zone: which instant it means is not said", c.Name), fmt.Sprintf("write (… AT TIME ZONE 'UTC')::timestamptz(3) AS %q, with the zone it was written in", c.Name))
	case fixed && !slices.Contains(want.oids, c.OID):
		j.refuse(where, fmt.Sprintf("column %q is %s and the field %s", c.Name, c.Type, f.Type), fmt.Sprintf("cast it, (…)%s AS %q, or change the field's type", want.cast, c.Name))
	case f.Type == readmodel.Timestamp && c.Precision > 3:
		j.refuse(where, fmt.Sprintf("column %q is %s, up to microseconds, and a BSON date holds milliseconds", c.Name, c.Type), fmt.Sprintf("cast to timestamptz(3): (…)::timestamptz(3) AS %q", c.Name))
	case f.Type == readmodel.Decimal && c.OID == oidNumeric:
		j.numeric(where, c, f)
	case c.OID == oidBpchar:
		j.refuse(where, fmt.Sprintf("column %q is %s, which is padded with spaces", c.Name, c.Type), fmt.Sprintf("cast to text: (…)::text AS %q", c.Name))
	case c.OID == oidBytea:
		j.refuse(where, fmt.Sprintf("column %q is bytea, which is no text", c.Name), fmt.Sprintf("write encode(…, 'hex') AS %q", c.Name))
	}
}

// maxDigits is what a Decimal128 holds.
const maxDigits = 34

func (j *judgement) numeric(where string, c postgres.ResultColumn, f *readmodel.Field) {
	switch {
	case c.Precision < 0:
		j.warn(where, fmt.Sprintf("column %q is numeric without a scale: a value with more than %d digits after the point stops its document", c.Name, f.Scale),
			fmt.Sprintf("cast it, (…)::numeric(20,%d) AS %q, if rounding there is meant", f.Scale, c.Name))
	case c.Scale > f.Scale:
		j.refuse(where, fmt.Sprintf("column %q is %s and the field has scale %d: digits would be lost", c.Name, c.Type, f.Scale), fmt.Sprintf("write scale: %d", c.Scale))
	case c.Precision-c.Scale+f.Scale > maxDigits:
		j.refuse(where, fmt.Sprintf("column %q is %s: with scale %d it may have more than the %d digits of a Decimal128", c.Name, c.Type, f.Scale, maxDigits), "cast it to fewer digits, or use type: text")
	}
}
