package cdc

import (
	"bytes"
	"strconv"
)

// AppendTimestamp appends a timestamptz, given in PostgreSQL's text form under DateStyle ISO and TimeZone UTC, as Debezium writes it:
// 2026-11-30T10:11:12.345678Z with six decimals, years before Christ as -0043, years over 9999 with a plus. infinity stays.
func AppendTimestamp(dst, text []byte) []byte {
	date, rest, ok := bytes.Cut(text, []byte{' '})
	clock, zone, utc := bytes.Cut(rest, []byte("+00"))
	if !ok || !utc {
		return append(dst, text...)
	}
	if bytes.Equal(zone, []byte(" BC")) {
		dst = appendBefore(dst, date)
	} else {
		if bytes.IndexByte(date, '-') > 4 {
			dst = append(dst, '+')
		}
		dst = append(dst, date...)
	}
	dst = append(append(dst, 'T'), clock...)
	if len(clock) == len("15:04:05") {
		dst = append(dst, '.')
	}
	for n := len(clock); n < len("15:04:05.000000"); n++ {
		if n != len("15:04:05") {
			dst = append(dst, '0')
		}
	}
	return append(dst, 'Z')
}

// appendBefore appends a date before Christ with an astronomical year: 44 BC is -0043.
func appendBefore(dst, date []byte) []byte {
	year, monthDay, _ := bytes.Cut(date, []byte{'-'})
	n, _ := strconv.Atoi(string(year))
	if n == 1 {
		return append(append(dst, "0000-"...), monthDay...)
	}
	digits := strconv.Itoa(n - 1)
	dst = append(dst, '-')
	for i := len(digits); i < 4; i++ {
		dst = append(dst, '0')
	}
	return append(append(append(dst, digits...), '-'), monthDay...)
}
