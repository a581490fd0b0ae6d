package sample

import "time"

// BaseDate is the sample's today, always: seeded settlements lie in the 90 days
// before it, and the workload's business dates start with it.
const BaseDate = "2026-11-30"

const seedDays = 90

// seoul has no daylight saving, so no time zone database is needed.
var seoul = time.FixedZone("KST", 9*60*60)

// day is a calendar day, counted from 1970-01-01.
type day int32

var baseDay = dayOf(time.Date(2026, 11, 30, 0, 0, 0, 0, seoul))

// holidays are Korea's public holidays on weekdays within the sample's reach.
var holidays = map[day]bool{
	date(2026, 9, 24): true, date(2026, 9, 25): true, // Chuseok
	date(2026, 10, 5):  true, // for National Foundation Day, a Saturday
	date(2026, 10, 9):  true, // Hangul Day
	date(2026, 12, 25): true, date(2027, 1, 1): true,
}

func date(year int, month time.Month, d int) day {
	return dayOf(time.Date(year, month, d, 0, 0, 0, 0, seoul))
}

// dayOf is the day in Seoul at t.
func dayOf(t time.Time) day { return day((t.Unix() + 9*60*60) / (24 * 60 * 60)) }

// at is the instant that lies offset after the day's midnight in Seoul.
func (d day) at(offset time.Duration) time.Time {
	return time.Unix(int64(d)*24*60*60-9*60*60, 0).Add(offset).UTC()
}

func (d day) business() bool {
	weekday := (int(d) + 4) % 7 // 1970-01-01 was a Thursday; 0 is Sunday
	return weekday != 0 && weekday != 6 && !holidays[d]
}

// plusBusiness is the n-th business day after d.
func (d day) plusBusiness(n int) day {
	for n > 0 {
		d++
		if d.business() {
			n--
		}
	}
	return d
}

func (d day) append(b []byte) []byte {
	return time.Unix(int64(d)*24*60*60, 0).UTC().AppendFormat(b, time.DateOnly)
}

func (d day) String() string { return string(d.append(nil)) }
