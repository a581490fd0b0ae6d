package document

import (
	"fmt"
	"slices"

	"prejoin/pkg/readmodel"
)

// Column is a result's column as PostgreSQL describes it.
type Column struct {
	Name   string
	OID    uint32
	Typmod int32
}

// ColumnError is SQL whose columns do not fit the model's fields.
type ColumnError struct {
	Part string // "root" or the child's field
	Why  string
}

func (e *ColumnError) Error() string { return fmt.Sprintf("the model's %s query %s", e.Part, e.Why) }

// PostgreSQL's object ids of the types that have fixed rules here (pg_type.dat).
const (
	oidBool        = 16
	oidInt8        = 20
	oidInt2        = 21
	oidInt4        = 23
	oidDate        = 1082
	oidTimestamptz = 1184
	oidNumeric     = 1700
)

var fitting = map[readmodel.Type][]uint32{
	readmodel.Int64:     {oidInt8, oidInt4, oidInt2},
	readmodel.Decimal:   {oidNumeric, oidInt8, oidInt4, oidInt2},
	readmodel.Bool:      {oidBool},
	readmodel.Date:      {oidDate},
	readmodel.Timestamp: {oidTimestamptz},
}

// fits says what is wrong with a column for a field, or nothing.
func fits(f *readmodel.Field, c Column) string {
	oids, fixed := fitting[f.Type]
	switch {
	case fixed && !slices.Contains(oids, c.OID):
		return fmt.Sprintf("gives column %q a type that field type %s cannot hold: cast it in SQL, or change the field's type", c.Name, f.Type)
	case f.Type == readmodel.Timestamp && (c.Typmod < 0 || c.Typmod > 3):
		return fmt.Sprintf("gives column %q microseconds, which a BSON date cannot hold: cast it to timestamptz(3)", c.Name)
	}
	return ""
}

// match gives each field its column's index. Extra and missing columns are errors.
func match(part string, fields []*readmodel.Field, columns []Column) ([]int, error) {
	index := make([]int, len(fields))
	for i, f := range fields {
		at := slices.IndexFunc(columns, func(c Column) bool { return c.Name == f.Name })
		if at < 0 {
			return nil, &ColumnError{part, fmt.Sprintf("returns no column %q: select it AS %q, or remove the field", f.Name, f.Name)}
		}
		if why := fits(f, columns[at]); why != "" {
			return nil, &ColumnError{part, why}
		}
		index[i] = at
	}
	for _, c := range columns {
		if !slices.ContainsFunc(fields, func(f *readmodel.Field) bool { return f.Name == c.Name }) {
			return nil, &ColumnError{part, fmt.Sprintf("returns column %q, which is no field: add the field, or remove the column", c.Name)}
		}
	}
	return index, nil
}
