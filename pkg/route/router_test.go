package route

import (
	"errors"
	"reflect"
	"testing"

	"prejoin/pkg/cdc"
	"prejoin/pkg/readmodel"
)

var model = &readmodel.Model{Routes: []readmodel.Route{
	{Table: "public.settlement", ID: "id"},
	{Table: "public.line", ID: "settlement_id"},
	{Table: "public.payment", Key: "id", Lookup: "…"},
	{Table: "public.merchant", Key: "id", Lookup: "…", Fanout: true},
	{Table: "public.merchant", Key: "partner_id", Lookup: "…"},
}}

func columns(pairs ...string) cdc.Columns {
	c := cdc.Columns{}
	for i := 0; i < len(pairs); i += 2 {
		c[pairs[i]] = cdc.Value{Text: pairs[i+1], Null: pairs[i+1] == "NULL"}
	}
	return c
}

func TestRoutes(t *testing.T) {
	r := New(model)
	f := func(c cdc.Change, want Touch) {
		t.Helper()
		c.Schema = "public"
		got, err := r.Route(&c)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s %c: got %+v (%v), want %+v", c.Table, c.Op, got, err, want)
		}
	}
	f(cdc.Change{Table: "settlement", Op: 'c', After: columns("id", "7")}, Touch{IDs: []string{"7"}})
	f(cdc.Change{Table: "settlement", Op: 'u', Before: columns("id", "7"), After: columns("id", "7")}, Touch{IDs: []string{"7"}})
	f(cdc.Change{Table: "settlement", Op: 'd', Before: columns("id", "7")}, Touch{IDs: []string{"7"}})
	f(cdc.Change{Table: "line", Op: 'u', Before: columns("settlement_id", "7"), After: columns("settlement_id", "8")}, Touch{IDs: []string{"7", "8"}})
	f(cdc.Change{Table: "line", Op: 'c', After: columns("settlement_id", "NULL")}, Touch{})
	f(cdc.Change{Table: "payment", Op: 'u', After: columns("id", "3")}, Touch{Lookups: []Lookup{{2, "3"}}})
	f(cdc.Change{Table: "merchant", Op: 'c', After: columns("id", "1", "partner_id", "5")}, Touch{Lookups: []Lookup{{3, "1"}, {4, "5"}}})
	f(cdc.Change{Table: "line", Kind: cdc.Truncate, Op: 't'}, Touch{Walk: true})
	f(cdc.Change{Table: "unrouted", Op: 'c', After: columns("id", "1")}, Touch{})
	f(cdc.Change{Table: "settlement", Kind: cdc.Tombstone}, Touch{})
}

func TestMissingColumnIsAnError(t *testing.T) {
	r := New(model)
	f := func(c cdc.Change) {
		t.Helper()
		c.Schema, c.Table = "public", "line"
		_, err := r.Route(&c)
		var missing *MissingColumnError
		if !errors.As(err, &missing) || missing.Column != "settlement_id" {
			t.Errorf("got %v, want a MissingColumnError", err)
		}
	}
	f(cdc.Change{Op: 'd', Before: columns("id", "1")})
	f(cdc.Change{Op: 'd'})
	f(cdc.Change{Op: 'c', After: columns("id", "1")})
}
