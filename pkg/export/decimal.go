package export

import (
	"encoding/binary"
	"strconv"

	"go.mongodb.org/mongo-driver/bson/primitive"
)

// appendDecimal appends a Decimal128 as primitive.Decimal128.String writes it: all
// digits as stored, trailing zeros included. It returns false for NaN and the
// infinities. Money (a coefficient under 2^64, an exponent from -6 to 0, and
// more) takes the fast path: no allocation, no division of 128 bits.
func appendDecimal(dst, data []byte) ([]byte, bool) {
	l, h := binary.LittleEndian.Uint64(data), binary.LittleEndian.Uint64(data[8:])
	exp := int(h>>49&(1<<14-1)) + primitive.MinDecimal128Exp
	if h>>61&3 == 3 || h&(1<<49-1) != 0 || exp > 0 {
		return appendRareDecimal(dst, h, l)
	}
	var tmp [20]byte
	digits := strconv.AppendUint(tmp[:0], l, 10)
	point := len(digits) + exp
	if point < -5 { // from here on the scientific form is the standard's
		return appendRareDecimal(dst, h, l)
	}
	if h>>63 == 1 {
		dst = append(dst, '-')
	}
	switch {
	case exp == 0:
		return append(dst, digits...), true
	case point <= 0:
		dst = append(dst, "0.00000"[:2-point]...)
		return append(dst, digits...), true
	}
	dst = append(dst, digits[:point]...)
	dst = append(dst, '.')
	return append(dst, digits[point:]...), true
}

func appendRareDecimal(dst []byte, h, l uint64) ([]byte, bool) {
	d := primitive.NewDecimal128(h, l)
	return append(dst, d.String()...), !d.IsNaN() && d.IsInf() == 0
}
