package postgres

import (
	"fmt"

	"github.com/jackc/pgx/v5"
)

// describe lets the server type the parameters and the result.
func (in *inspector) describe(sql string, out *Inspected) error {
	d, err := in.conn.PgConn().Prepare(in.ctx, "", sql, nil)
	if err != nil {
		return err
	}
	if out.Params, err = in.typeNames(d.ParamOIDs, nil); err != nil {
		return err
	}
	oids, mods := make([]uint32, len(d.Fields)), make([]int32, len(d.Fields))
	for i, f := range d.Fields {
		oids[i], mods[i] = f.DataTypeOID, f.TypeModifier
	}
	names, err := in.typeNames(oids, mods)
	if err != nil {
		return err
	}
	for i, f := range d.Fields {
		c := ResultColumn{Name: f.Name, Type: names[i], OID: f.DataTypeOID, Typmod: f.TypeModifier}
		c.Precision, c.Scale = precision(c.OID, c.Typmod)
		out.Columns = append(out.Columns, c)
	}
	return nil
}

func (in *inspector) typeNames(oids []uint32, mods []int32) ([]string, error) {
	if mods == nil {
		mods = make([]int32, len(oids))
		for i := range mods {
			mods[i] = -1
		}
	}
	rows, err := in.conn.Query(in.ctx, "SELECT format_type(t, m) FROM unnest($1::oid[], $2::int[]) WITH ORDINALITY u (t, m, n) ORDER BY n", oids, mods)
	if err != nil {
		return nil, fmt.Errorf("naming types: %w", err)
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// Object ids of the types with a precision (pg_type.dat).
const (
	oidTimestamp   = 1114
	oidTimestamptz = 1184
	oidNumeric     = 1700
)

// precision reads a type modifier: numeric holds ((precision << 16) | scale) + 4
// with an 11-bit signed scale, timestamps their fraction digits (6 where absent).
func precision(oid uint32, typmod int32) (digits, scale int) {
	switch {
	case oid == oidNumeric && typmod >= 4:
		return int((typmod-4)>>16) & 0xffff, int((typmod-4)&0x7ff^0x400) - 0x400
	case (oid == oidTimestamptz || oid == oidTimestamp) && typmod < 0:
		return 6, -1
	case oid == oidTimestamptz || oid == oidTimestamp:
		return int(typmod), -1
	}
	return -1, -1
}
