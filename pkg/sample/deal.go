package sample

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// deal is one settlement with all that belongs to it: the order, its payment and
// the fee lines. The ids are 0 in one that is not stored yet.
type deal struct {
	merchant, order, payment, id                int64
	cancelOf                                    bool // order and payment are another deal's
	orderNo, productOrderNo, product, buyer     string
	ordered, paid, confirmed, created, modified time.Time // confirmed is zero until it happens
	method, issuer                              string
	installment                                 int
	kind, status, hold                          string
	base, due                                   day
	gross, net                                  cents
	lines                                       []line
}

type line struct {
	id          int64
	kind        string
	base        cents
	rate        feeRate
	amount, vat cents
}

func (d *deal) paidOut() bool { return d.status == "PAID" }

// settle computes what the merchant gets.
func (d *deal) settle() {
	d.net = d.gross
	for _, l := range d.lines {
		d.net -= l.amount + l.vat
	}
}

// makeDeal draws a sale of that amount, settled at the given time; today decides
// whether it has been paid out. Ids and merchant are left to the caller.
func makeDeal(r *rand.Rand, gross cents, settled time.Time, today day) deal {
	d := deal{kind: "NORMAL", created: settled, modified: settled, base: dayOf(settled)}
	d.due = d.base.plusBusiness(2)
	d.product, d.buyer = productName(r), buyerName(r)
	d.pay(r)
	d.times(r, today)
	d.numbers(r)
	d.gross = gross
	d.charge(r)
	d.settle()
	d.decide(r, today)
	return d
}

func (d *deal) pay(r *rand.Rand) {
	switch n := r.IntN(100); {
	case n < 70:
		d.method, d.issuer = "CARD", pick(r, issuers)
		if r.IntN(4) == 0 {
			d.installment = []int{2, 3, 6, 12, 24}[r.IntN(5)]
		}
	case n < 85:
		d.method = "TRANSFER"
	case n < 93:
		d.method = "VBANK"
	case n < 97:
		d.method = "PHONE"
	default:
		d.method = "POINT"
	}
}

// times: a normal settlement is made when the buyer confirms the purchase, a fast
// one a day after the order, when nothing is confirmed yet.
func (d *deal) times(r *rand.Rand, today day) {
	ago := 2*24*time.Hour + jitter(r, 12*24*time.Hour)
	if r.IntN(8) == 0 {
		d.kind, ago = "FAST", 24*time.Hour+jitter(r, 6*time.Hour)
		if d.base < today-10 && r.IntN(20) > 0 {
			d.confirmed = d.created.Add(2*24*time.Hour + jitter(r, 6*24*time.Hour))
		}
	} else {
		d.confirmed = d.created.Add(-jitter(r, time.Minute))
	}
	d.ordered = d.created.Add(-ago)
	d.paid = d.ordered.Add(jitter(r, 20*time.Minute))
	if d.method == "VBANK" {
		d.paid = d.ordered.Add(jitter(r, 20*time.Hour))
	}
}

// numbers: sixteen digits, the date first; those of an old shop system have
// leading zeros, which a number in a spreadsheet would lose.
func (d *deal) numbers(r *rand.Rand) {
	prefix := d.ordered.In(seoul).Format("20060102")
	if r.IntN(50) == 0 {
		prefix = "00000000"
	}
	n := r.IntN(99_999_990)
	d.orderNo, d.productOrderNo = fmt.Sprintf("%s%08d", prefix, n), fmt.Sprintf("%s%08d", prefix, n+1+r.IntN(9))
}

// decide: what is due has been paid, but for a few.
func (d *deal) decide(r *rand.Rand, today day) {
	d.status = "SCHEDULED"
	if d.due <= today {
		d.status = "PAID"
		d.modified = d.due.at(10*time.Hour + jitter(r, time.Hour))
	}
	switch n := r.IntN(1000); {
	case n < 18:
		d.status, d.hold = "HELD", holdReason(r)
	case n < 30:
		d.status = "CANCELED"
	}
}

// cancel makes the second settlement of a returned order: all amounts negative.
func (d deal) cancel(settled time.Time, today day) deal {
	d.cancelOf, d.kind, d.status, d.hold = true, "CANCEL", "SCHEDULED", ""
	d.created, d.modified, d.base = settled, settled, dayOf(settled)
	d.due = d.base.plusBusiness(2)
	if d.due <= today {
		d.status, d.modified = "PAID", d.due.at(10*time.Hour)
	}
	d.gross = -d.gross
	lines := make([]line, len(d.lines))
	for i, l := range d.lines {
		lines[i] = line{kind: l.kind, base: -l.base, rate: l.rate, amount: -l.amount, vat: -l.vat}
	}
	d.lines = lines
	d.settle()
	return d
}

func jitter(r *rand.Rand, span time.Duration) time.Duration {
	return time.Duration(r.Int64N(int64(span))).Truncate(time.Microsecond)
}
