package sample

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// advance moves a settlement on in its life.
func (h *hand) advance(ctx context.Context, tx pgx.Tx) (outcome, error) {
	f, ok, err := h.find(ctx, tx)
	if err != nil || !ok {
		return outcome{}, err
	}
	switch {
	case f.status == "HELD":
		ok, err = exec(ctx, tx, `UPDATE settlement SET status = 'SCHEDULED', hold_reason = NULL, updated_at = clock_timestamp() WHERE id = $1`, f.id)
		return named("release", ok, err)
	case f.status == "SCHEDULED" && h.r.IntN(3) > 0:
		ok, err = exec(ctx, tx, `UPDATE settlement SET status = 'PAID', paid_out = pay_due, updated_at = clock_timestamp() WHERE id = $1`, f.id)
		return named("pay", ok, err)
	case f.status == "SCHEDULED":
		return h.hold(ctx, tx, f, "hold", holdReason(h.r))
	case f.status == "PAID" && h.r.IntN(4) == 0: // the bank sent the money back
		return h.hold(ctx, tx, f, "bounce", "지급 계좌 오류로 반송됨")
	}
	return outcome{}, nil // paid out or canceled: the end
}

func (h *hand) hold(ctx context.Context, tx pgx.Tx, f found, name, reason string) (outcome, error) {
	ok, err := exec(ctx, tx, `UPDATE settlement SET status = 'HELD', hold_reason = $2, paid_out = NULL, updated_at = clock_timestamp() WHERE id = $1`, f.id, reason)
	return named(name, ok, err)
}

// changePayment corrects how an order was paid: another card, other instalments,
// or a transfer after all.
func (h *hand) changePayment(ctx context.Context, tx pgx.Tx) (outcome, error) {
	f, ok, err := h.find(ctx, tx)
	if err != nil || !ok {
		return outcome{}, err
	}
	method, issuer, installment := "CARD", optional(pick(h.r, issuers)), new(int)
	*installment = h.r.IntN(13)
	if h.r.IntN(5) == 0 {
		method, issuer, installment = "TRANSFER", nil, nil
	}
	ok, err = exec(ctx, tx, `UPDATE payment SET method = $2, card_issuer = $3, installment = $4, updated_at = clock_timestamp() WHERE id = $1`, f.payment, method, issuer, installment)
	return named("payment", ok, err)
}

// changeOrder confirms a purchase, or corrects the names in one that is.
func (h *hand) changeOrder(ctx context.Context, tx pgx.Tx) (outcome, error) {
	f, ok, err := h.find(ctx, tx)
	if err != nil || !ok {
		return outcome{}, err
	}
	ok, err = exec(ctx, tx, `UPDATE orders SET confirmed_at = greatest(ordered_at, clock_timestamp()), updated_at = clock_timestamp() WHERE id = $1 AND confirmed_at IS NULL`, f.order)
	if err != nil || ok {
		return named("confirm", ok, err)
	}
	ok, err = exec(ctx, tx, `UPDATE orders SET product_name = $2, buyer_name = $3, updated_at = clock_timestamp() WHERE id = $1`, f.order, productName(h.r), buyerName(h.r))
	return named("order", ok, err)
}

// changeMerchant renames a merchant, or gives it another account or partner.
func (h *hand) changeMerchant(ctx context.Context, tx pgx.Tx) (outcome, error) {
	id := h.known.someMerchant(h.r)
	switch n := h.r.IntN(20); {
	case n < 12:
		ok, err := exec(ctx, tx, `UPDATE merchant SET name = $2, updated_at = clock_timestamp() WHERE id = $1`, id, merchantName(h.r))
		return named("rename", ok, err)
	case n < 17:
		ok, err := exec(ctx, tx, `UPDATE merchant SET bank_code = $2, account_no = $3, account_holder = $4, updated_at = clock_timestamp() WHERE id = $1`, id, pick(h.r, banks), account(h.r), buyerName(h.r))
		return named("account", ok, err)
	}
	ok, err := exec(ctx, tx, `UPDATE merchant SET partner_id = nullif($2::bigint, 0), updated_at = clock_timestamp() WHERE id = $1`, id, h.r.IntN(Partners+1))
	return named("partner", ok, err)
}
