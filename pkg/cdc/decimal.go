package cdc

import (
	"encoding/base64"
	"math/big"
	"strconv"
	"strings"
)

// PostgreSQL's numeric holds 131,072 digits before the point and 16,383 behind it.
const (
	maxScale        = 16383
	maxUnscaledSize = 64 << 10
)

// decimalText turns base64 of a two's-complement unscaled number into text: "BNI=" with scale 2 is 12.34.
func decimalText(encoded string, scale int) (string, error) {
	if len(encoded) > maxUnscaledSize || scale > maxScale || scale < -maxScale {
		return "", refuse("expected a decimal that PostgreSQL can hold")
	}
	b, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil || len(b) == 0 {
		return "", refuse("expected a decimal in base64")
	}
	n := new(big.Int).SetBytes(b)
	if b[0]&0x80 != 0 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(len(b))*8))
	}
	return point(n, scale), nil
}

// point writes n · 10^-scale without an exponent.
func point(n *big.Int, scale int) string {
	digits, sign := new(big.Int).Abs(n).String(), ""
	if n.Sign() < 0 {
		sign = "-"
	}
	if scale <= 0 {
		if n.Sign() == 0 {
			return "0"
		}
		return sign + digits + strings.Repeat("0", -scale)
	}
	if missing := scale + 1 - len(digits); missing > 0 {
		digits = strings.Repeat("0", missing) + digits
	}
	return sign + digits[:len(digits)-scale] + "." + digits[len(digits)-scale:]
}

// variableScale reads {"scale": 2, "value": "BNI="}, which Debezium writes for a numeric without a declared scale.
func variableScale(raw []byte) (string, error) {
	scale, err := strconv.Atoi(string(memberOf(raw, "scale")))
	if err != nil {
		return "", refuse("expected a single value or a decimal with its scale, not an object")
	}
	value, err := readText(memberOf(raw, "value"), "value of a decimal")
	if err != nil {
		return "", err
	}
	return decimalText(value, scale)
}
