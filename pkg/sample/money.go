package sample

import (
	"math/bits"
	"strconv"
)

// cents is money with two decimals, as numeric(18,2) holds it: up to
// ±9999999999999999.99. int64 has room for all of them.
type cents int64

const (
	won      cents = 100                     // won have no minor unit
	maxMoney cents = 999_999_999_999_999_999 // the largest numeric(18,2)
)

// feeRate is a share with five decimals, as numeric(7,5): 2310 is 2.31 %.
type feeRate int64

const wholeRate feeRate = 100_000

// of returns the share r of c in whole units (won, or 1 for a currency with
// cents), cut towards zero. 128 bits between, for c·r may pass 2^63.
func (r feeRate) of(c, unit cents) cents {
	negative := c < 0
	if negative {
		c = -c
	}
	hi, lo := bits.Mul64(uint64(c), uint64(r))
	quotient, _ := bits.Div64(hi, lo, uint64(wholeRate)*uint64(unit))
	share := cents(quotient) * unit
	if negative {
		return -share
	}
	return share
}

func (c cents) append(b []byte) []byte   { return appendFixed(b, int64(c), 2) }
func (r feeRate) append(b []byte) []byte { return appendFixed(b, int64(r), 5) }

func (c cents) String() string   { return string(c.append(nil)) }
func (r feeRate) String() string { return string(r.append(nil)) }

// appendFixed writes v / 10^scale with exactly scale decimals.
func appendFixed(b []byte, v int64, scale int) []byte {
	if v < 0 {
		b = append(b, '-')
		v = -v
	}
	unit := int64(1)
	for range scale {
		unit *= 10
	}
	b = strconv.AppendInt(b, v/unit, 10)
	b = append(b, '.')
	rest := v % unit
	for unit /= 10; unit > 0; unit /= 10 {
		b = append(b, byte('0'+rest/unit%10))
	}
	return b
}
