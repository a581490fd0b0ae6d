package query

import "math/big"

// pow10 is 10^n for the small exponents that values of at most 34 digits have.
func pow10(n int) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil)
}
