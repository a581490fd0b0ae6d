package export

import (
	"strconv"
	"time"
)

const dayMillis = 86_400_000

// clock writes timestamps in one zone. It remembers the zone's last period, since
// neighbouring rows nearly always share it; not for use by two goroutines.
type clock struct {
	loc        *time.Location
	begin, end int64 // milliseconds in which offset holds: begin ≤ t < end
	offset     int64 // seconds east of UTC
}

// at is the zone's offset in seconds at that time.
func (c *clock) at(ms int64) int64 {
	if c.loc == time.UTC {
		return 0
	}
	if ms < c.begin || ms >= c.end {
		c.load(ms)
	}
	return c.offset
}

func (c *clock) load(ms int64) {
	t := time.UnixMilli(ms).In(c.loc)
	_, offset := t.Zone()
	c.offset = int64(offset)
	c.begin, c.end = -1<<63, 1<<63-1
	begin, end := t.ZoneBounds()
	if !begin.IsZero() {
		c.begin = begin.UnixMilli()
	}
	if !end.IsZero() {
		c.end = end.UnixMilli()
	}
}

// appendTimestamp appends a time with milliseconds and offset, such as
// 2026-11-30T09:00:00.000+09:00, or Z for UTC.
func (c *clock) appendTimestamp(dst []byte, ms int64) []byte {
	offset := c.at(ms)
	if offset%60 != 0 {
		offset = 0 // the offset cannot be written: UTC names the same time exactly
	}
	days, rest := floorDiv(ms, dayMillis)
	rest += offset * 1000
	if rest < 0 {
		days, rest = days-1, rest+dayMillis
	} else if rest >= dayMillis {
		days, rest = days+1, rest-dayMillis
	}
	dst = appendDate(dst, days)
	dst = append(dst, 'T')
	dst = appendTime(dst, rest)
	if offset == 0 {
		return append(dst, 'Z')
	}
	return appendOffset(dst, offset)
}

func appendTime(dst []byte, ms int64) []byte {
	dst = append(append2(dst, ms/3_600_000), ':')
	dst = append(append2(dst, ms/60_000%60), ':')
	dst = append(append2(dst, ms/1000%60), '.')
	return append2(append(dst, byte('0'+ms%1000/100)), ms%100)
}

func appendOffset(dst []byte, seconds int64) []byte {
	sign := byte('+')
	if seconds < 0 {
		sign, seconds = '-', -seconds
	}
	dst = append(append2(append(dst, sign), seconds/3600), ':')
	return append2(dst, seconds/60%60)
}

// appendDate appends the date that lies so many days after 1970-01-01.
func appendDate(dst []byte, days int64) []byte {
	y, m, d := civil(days)
	dst = append(appendYear(dst, y), '-')
	dst = append(append2(dst, m), '-')
	return append2(dst, d)
}

// appendYear writes four digits; outside 0 to 9999 a sign and six digits or more,
// as ECMAScript reads them.
func appendYear(dst []byte, y int64) []byte {
	if y >= 0 && y <= 9999 {
		return append2(append2(dst, y/100), y%100)
	}
	sign := byte('+')
	if y < 0 {
		sign, y = '-', -y
	}
	dst = append(dst, sign)
	for limit := int64(100_000); y < limit; limit /= 10 {
		dst = append(dst, '0')
	}
	return strconv.AppendInt(dst, y, 10)
}

func append2(dst []byte, n int64) []byte { return append(dst, byte('0'+n/10), byte('0'+n%10)) }

// civil is the proleptic Gregorian date of a day number, for every int64 of
// milliseconds (time.Time has no such year limit, but costs four times as much).
func civil(days int64) (y, m, d int64) {
	era, doe := floorDiv(days+719_468, 146_097)
	yoe := (doe - doe/1460 + doe/36_524 - doe/146_096) / 365
	doy := doe - (365*yoe + yoe/4 - yoe/100)
	mp := (5*doy + 2) / 153
	y, m, d = era*400+yoe, mp+3, doy-(153*mp+2)/5+1
	if m > 12 {
		y, m = y+1, m-12
	}
	return y, m, d
}

func floorDiv(a, b int64) (q, r int64) {
	q, r = a/b, a%b
	if r < 0 {
		q, r = q-1, r+b
	}
	return q, r
}
