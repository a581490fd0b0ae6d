package sample

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// create sells something: order, payment, settlement and lines in one go. currval
// is volatile: outside of a subquery it would be called for every row of the table
// instead of once for its index.
func (h *hand) create(ctx context.Context, tx pgx.Tx) (outcome, error) {
	d := makeDeal(h.r, amountOf(h.r), baseDay.at(jitter(h.r, 24*time.Hour)), baseDay)
	var id int64
	batch := &pgx.Batch{}
	batch.Queue(`INSERT INTO orders (merchant_id, order_no, product_order_no, product_name, buyer_name, ordered_at, confirmed_at) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
		h.known.merchant(h.r), d.orderNo, d.productOrderNo, d.product, d.buyer, d.ordered, optionalTime(d.confirmed))
	batch.Queue(`INSERT INTO payment (order_id, merchant_id, method, card_issuer, installment, amount, paid_at)
		SELECT id, merchant_id, $1, $2, CASE WHEN $1 = 'CARD' THEN $3::int END, $4, $5 FROM orders WHERE id = (SELECT currval('orders_id_seq'))`,
		d.method, optional(d.issuer), d.installment, d.gross.String(), d.paid)
	batch.Queue(`INSERT INTO settlement (merchant_id, order_id, payment_id, type, status, settlement_base, pay_due, payment_amount, amount, hold_reason)
		SELECT merchant_id, order_id, id, $1, $2, $3::text::date, $4::text::date, $5, $6, $7 FROM payment WHERE id = (SELECT currval('payment_id_seq'))`,
		d.kind, d.status, d.base.String(), d.due.String(), d.gross.String(), d.net.String(), optional(d.hold))
	for _, l := range d.lines {
		batch.Queue(`INSERT INTO settlement_line (settlement_id, kind, base, rate, amount, vat) VALUES (currval('settlement_id_seq'), $1, $2, $3, $4, $5)`,
			l.kind, l.base.String(), l.rate.String(), l.amount.String(), l.vat.String())
	}
	batch.Queue(`SELECT currval('settlement_id_seq')`).QueryRow(func(row pgx.Row) error { return row.Scan(&id) })
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return outcome{}, fmt.Errorf("creating a settlement: %w", err)
	}
	return outcome{name: "create", made: id}, nil
}

// cancel takes a sale back. What was paid out gets a second settlement with
// negative amounts, what was not is canceled.
func (h *hand) cancel(ctx context.Context, tx pgx.Tx) (outcome, error) {
	f, ok, err := h.find(ctx, tx)
	switch {
	case err != nil || !ok || f.kind == "CANCEL" || f.status == "CANCELED":
		return outcome{}, err
	case f.status != "PAID":
		ok, err = exec(ctx, tx, `UPDATE settlement SET status = 'CANCELED', hold_reason = NULL, updated_at = clock_timestamp() WHERE id = $1`, f.id)
		return named("withdraw", ok, err)
	}
	return h.reverse(ctx, tx, f)
}

func (h *hand) reverse(ctx context.Context, tx pgx.Tx, f found) (outcome, error) {
	var id int64
	due := baseDay.plusBusiness(2)
	rows, err := tx.Query(ctx, `
		WITH made AS (
		  INSERT INTO settlement (merchant_id, order_id, payment_id, type, status, settlement_base, pay_due, payment_amount, amount)
		  SELECT merchant_id, order_id, payment_id, 'CANCEL', 'SCHEDULED', $2::text::date, $3::text::date, -payment_amount, -amount FROM settlement s
		  WHERE id = $1 AND NOT EXISTS (SELECT FROM settlement c WHERE c.payment_id = s.payment_id AND c.type = 'CANCEL')
		  RETURNING id
		), lines AS (
		  INSERT INTO settlement_line (settlement_id, kind, base, rate, amount, vat)
		  SELECT made.id, kind, -base, rate, -l.amount, -vat FROM settlement_line l, made WHERE settlement_id = $1
		)
		SELECT id FROM made`, f.id, baseDay.String(), due.String())
	if err != nil {
		return outcome{}, fmt.Errorf("canceling settlement %d: %w", f.id, err)
	}
	if _, err := pgx.ForEachRow(rows, []any{&id}, func() error { return nil }); err != nil {
		return outcome{}, fmt.Errorf("canceling settlement %d: %w", f.id, err)
	}
	if id == 0 {
		return outcome{}, nil
	}
	return outcome{name: "cancel", made: id}, nil
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func optionalTime(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
