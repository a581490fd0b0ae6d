package xlsx

import "strconv"

func itoa(n int) string { return strconv.Itoa(n) }

// holds says whether Excel holds a number exactly: its double keeps 15 significant
// digits and no sign of zero. Zeros at either end are not significant.
func holds(number []byte) bool {
	significant, zeros, exponent := 0, 0, 0
	for i, b := range number {
		switch {
		case b == '0':
			if significant > 0 {
				zeros++
			}
		case b >= '1' && b <= '9':
			significant, zeros = significant+zeros+1, 0
		case b == 'E':
			exponent, _ = strconv.Atoi(string(number[i+1:]))
		}
		if b == 'E' {
			break
		}
	}
	if significant == 0 && number[0] == '-' {
		return false
	}
	return significant <= 15 && exponent > -290 && exponent < 290
}

// numberWidth is the number of characters that a number shows.
func numberWidth(digits []byte, grouped bool) int {
	n := len(digits)
	if grouped {
		n += n / 3
	}
	return n
}
