package sample

import "math/rand/v2"

// amountOf draws a price: mostly won in hundreds, three in a hundred of a
// currency with cents.
func amountOf(r *rand.Rand) cents {
	if r.IntN(100) < 3 {
		return cents(100 + r.IntN(5_000_000))
	}
	price := cents(10+r.IntN(490)) * 100 * won // 1,000 to 50,000
	if r.IntN(5) == 0 {
		price *= cents(1 + r.IntN(60))
	}
	return price
}

// hugeAmount has more than 15 significant digits, which a double cannot hold.
func hugeAmount(r *rand.Rand, largest bool) cents {
	if largest {
		return maxMoney
	}
	return maxMoney - 1 - cents(r.Int64N(int64(maxMoney)/2))
}

// unit is the smallest amount of the currency that an amount is in.
func unit(c cents) cents {
	if c%won != 0 {
		return 1
	}
	return won
}

var pgRates = map[string]feeRate{"CARD": 2310, "TRANSFER": 1500, "VBANK": 900, "PHONE": 3520, "POINT": 1000}

// charge adds the fee lines: one to six, 2.5 on average. All lessen the net.
func (d *deal) charge(r *rand.Rand) {
	d.add("PG_FEE", d.gross, pgRates[d.method]+feeRate(r.IntN(3)*55))
	if r.IntN(100) < 90 {
		d.add("SALES_FEE", d.gross, 2000+feeRate(r.IntN(386)*10))
	}
	if d.installment > 0 {
		d.add("INSTALLMENT", d.gross, feeRate(d.installment)*211+7)
	}
	if r.IntN(100) < 16 {
		d.add("COUPON", d.gross, 1000+feeRate(r.IntN(5)*1000))
	}
	if r.IntN(100) < 18 {
		d.add("SHIPPING", min(d.gross, 3000*won), 3300)
	}
	if r.IntN(100) < 12 {
		d.add("POINT", d.gross, 100+feeRate(r.IntN(9)*50+3))
	}
}

func (d *deal) add(kind string, base cents, share feeRate) {
	amount := share.of(base, unit(d.gross))
	d.lines = append(d.lines, line{kind: kind, base: base, rate: share, amount: amount, vat: feeRate(10_000).of(amount, unit(d.gross))})
}
