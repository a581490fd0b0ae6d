package refresh

import (
	"context"
	"strconv"

	"prejoin/pkg/postgres"
	"prejoin/pkg/readmodel"
)

// Lookup asks which documents belong to the values of a route's column, and in
// which snapshot. It waits for outages to end. An id may come more than once.
func (r *Refresher) Lookup(ctx context.Context, route int, values []string) ([]string, postgres.Snapshot, error) {
	return r.ids(ctx, postgres.Statement{SQL: r.Model().Routes[route].Lookup, Params: [][]byte{array(values)}})
}

// Page is one page of a fan-out: at most size ids after last; "" begins.
func (r *Refresher) Page(ctx context.Context, route int, value, last string, size int) ([]string, postgres.Snapshot, error) {
	if last == "" {
		last = r.lowest()
	}
	return r.ids(ctx, postgres.Statement{SQL: r.Model().Routes[route].Lookup,
		Params: [][]byte{[]byte(value), []byte(last), []byte(strconv.Itoa(size))}})
}

// IDs is one page of all the shard's ids: at most size after last; "" begins.
func (r *Refresher) IDs(ctx context.Context, last string, size int) ([]string, error) {
	after := []byte(last)
	if last == "" {
		after = nil
	}
	ids, _, err := r.ids(ctx, postgres.Statement{SQL: r.Model().IDs, Params: [][]byte{after, []byte(strconv.Itoa(size))}})
	return ids, err
}

// lowest sorts before every id: a fan-out's SQL compares with it.
func (r *Refresher) lowest() string {
	if r.Model().Field(r.Model().ID).Type == readmodel.Int64 {
		return "-9223372036854775808"
	}
	return ""
}

func (r *Refresher) ids(ctx context.Context, st postgres.Statement) ([]string, postgres.Snapshot, error) {
	var list *idList
	err := r.patiently(ctx, func(ctx context.Context) error {
		list = &idList{admission: r.admission()}
		timing, err := r.source.Read(ctx, postgres.Query{Tables: r.tables, Statements: []postgres.Statement{st}}, list)
		r.metrics.observe(timing)
		return err
	})
	if err != nil {
		return nil, postgres.Snapshot{}, err
	}
	return list.ids, list.snapshot, nil
}
