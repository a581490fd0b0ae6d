package sample

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
)

// outcome says what an action did: its name ("" if nothing fit it) and the id
// of a settlement that it made.
type outcome struct {
	name string
	made int64
}

type action func(*hand, context.Context, pgx.Tx) (outcome, error)

// actions and how often they are drawn, in a thousand.
var actions = []struct {
	weight int
	do     action
}{
	{280, (*hand).create}, {260, (*hand).advance}, {130, (*hand).correctLine}, {50, (*hand).addLine}, {40, (*hand).removeLine}, {20, (*hand).moveLine},
	{90, (*hand).changePayment}, {50, (*hand).changeOrder}, {40, (*hand).cancel}, {38, (*hand).remove}, {2, (*hand).changeMerchant},
}

// act draws until something fits, five times at most.
func (h *hand) act(ctx context.Context, tx pgx.Tx) (outcome, error) {
	for range 5 {
		done, err := h.draw()(h, ctx, tx)
		if err != nil || done.name != "" {
			return done, err
		}
	}
	return outcome{}, nil
}

func (h *hand) draw() action {
	n := h.r.IntN(1000)
	for _, a := range actions {
		if n -= a.weight; n < 0 {
			return a.do
		}
	}
	return (*hand).create
}

// found is a settlement that this transaction holds.
type found struct {
	id, order, payment int64
	kind, status       string
}

// find locks a drawn settlement. ok is false where there is none, or where
// another transaction holds it: nobody waits, as people do not.
func (h *hand) find(ctx context.Context, tx pgx.Tx) (f found, ok bool, err error) {
	err = tx.QueryRow(ctx, `
		SELECT id, order_id, payment_id, type, status FROM settlement
		WHERE id >= $1 ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED`, h.known.settlement(h.r)).
		Scan(&f.id, &f.order, &f.payment, &f.kind, &f.status)
	if errors.Is(err, pgx.ErrNoRows) {
		return f, false, nil
	}
	return f, err == nil, err
}

// recompute keeps the law of every settlement after its lines changed.
const recompute = `
	UPDATE settlement s SET updated_at = clock_timestamp(),
	  amount = payment_amount - coalesce((SELECT sum(l.amount + l.vat) FROM settlement_line l WHERE l.settlement_id = s.id), 0)
	WHERE id = $1`

// exec runs a statement and tells whether it touched a row.
func exec(ctx context.Context, tx pgx.Tx, sql string, args ...any) (bool, error) {
	tag, err := tx.Exec(ctx, sql, args...)
	return tag.RowsAffected() > 0, err
}

// named is the outcome of an action that did something, or nothing.
func named(name string, did bool, err error) (outcome, error) {
	if err != nil || !did {
		return outcome{}, err
	}
	return outcome{name: name}, nil
}
