package sample

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// The fee corrections. Each changes lines and, in the same transaction, the net
// amount that follows from them.

// drawnLine is one of a settlement's lines.
const drawnLine = `(SELECT id FROM settlement_line WHERE settlement_id = $1 ORDER BY random() LIMIT 1)`

// correctLine applies another rate. Amounts without cents stay without.
func (h *hand) correctLine(ctx context.Context, tx pgx.Tx) (outcome, error) {
	return h.corrected(ctx, tx, "correct_line", `
		UPDATE settlement_line SET rate = $2,
		  amount = trunc(base * $2, CASE WHEN base = trunc(base) THEN 0 ELSE 2 END),
		  vat = trunc(base * $2 / 10, CASE WHEN base = trunc(base) THEN 0 ELSE 2 END)
		WHERE id = `+drawnLine, feeRate(500+h.r.IntN(5000)).String())
}

// addLine books a fee that was forgotten; a dozen is enough.
func (h *hand) addLine(ctx context.Context, tx pgx.Tx) (outcome, error) {
	return h.corrected(ctx, tx, "add_line", `
		INSERT INTO settlement_line (settlement_id, kind, base, rate, amount, vat)
		SELECT id, 'COUPON', payment_amount, $2, trunc(payment_amount * $2, 2), 0 FROM settlement
		WHERE id = $1 AND (SELECT count(*) FROM settlement_line WHERE settlement_id = $1) < 12`, feeRate(100+h.r.IntN(900)).String())
}

// removeLine strikes a fee out.
func (h *hand) removeLine(ctx context.Context, tx pgx.Tx) (outcome, error) {
	return h.corrected(ctx, tx, "remove_line", `DELETE FROM settlement_line WHERE id = `+drawnLine)
}

func (h *hand) corrected(ctx context.Context, tx pgx.Tx, name, sql string, args ...any) (outcome, error) {
	f, ok, err := h.find(ctx, tx)
	if err != nil || !ok {
		return outcome{}, err
	}
	if ok, err = exec(ctx, tx, sql, append([]any{f.id}, args...)...); err == nil && ok {
		_, err = exec(ctx, tx, recompute, f.id)
	}
	return named(name, ok, err)
}

// moveLine books a line that stood under the wrong settlement: both change, and
// the event has to name both.
func (h *hand) moveLine(ctx context.Context, tx pgx.Tx) (outcome, error) {
	from, ok, err := h.find(ctx, tx)
	if err != nil || !ok {
		return outcome{}, err
	}
	to, ok, err := h.find(ctx, tx)
	if err != nil || !ok || to.id == from.id || (from.kind == "CANCEL") != (to.kind == "CANCEL") {
		return outcome{}, err
	}
	ok, err = exec(ctx, tx, `UPDATE settlement_line SET settlement_id = $2 WHERE id = `+drawnLine, from.id, to.id)
	for _, id := range []int64{from.id, to.id} {
		if err == nil && ok {
			_, err = exec(ctx, tx, recompute, id)
		}
	}
	return named("move_line", ok, err)
}

// remove deletes a settlement that was entered by mistake; one in two with its
// order and payment, where no other settlement needs them.
func (h *hand) remove(ctx context.Context, tx pgx.Tx) (outcome, error) {
	f, ok, err := h.find(ctx, tx)
	if err != nil || !ok {
		return outcome{}, err
	}
	if _, err = exec(ctx, tx, `DELETE FROM settlement_line WHERE settlement_id = $1`, f.id); err == nil {
		ok, err = exec(ctx, tx, `DELETE FROM settlement WHERE id = $1`, f.id)
	}
	if err == nil && h.r.IntN(2) == 0 {
		err = h.removeSale(ctx, tx, f)
	}
	return named("delete", ok, err)
}

func (h *hand) removeSale(ctx context.Context, tx pgx.Tx, f found) error {
	alone, err := exec(ctx, tx, `DELETE FROM payment WHERE id = $1 AND NOT EXISTS (SELECT FROM settlement WHERE payment_id = $1)`, f.payment)
	if err == nil && alone {
		_, err = exec(ctx, tx, `DELETE FROM orders WHERE id = $1 AND NOT EXISTS (SELECT FROM payment WHERE order_id = $1)`, f.order)
	}
	return err
}
