package query

import (
	"testing"
	"time"
)

func TestStartOfDay(t *testing.T) {
	f := func(zone string, y, m, d int, want string) {
		t.Helper()
		z, err := Zone(zone)
		if err != nil {
			t.Fatal(err)
		}
		if got := startOfDay(y, time.Month(m), d, z).UTC().Format(time.RFC3339); got != want {
			t.Errorf("%s %d-%d-%d: %s, want %s", zone, y, m, d, got, want)
		}
	}
	f("UTC", 2026, 11, 30, "2026-11-30T00:00:00Z")
	f("Asia/Seoul", 2026, 11, 30, "2026-11-29T15:00:00Z")
	f("America/New_York", 2026, 3, 8, "2026-03-08T05:00:00Z")
	f("America/New_York", 2026, 3, 9, "2026-03-09T04:00:00Z")
	f("Asia/Beirut", 2024, 3, 31, "2024-03-30T22:00:00Z")       // 00:00 does not exist
	f("America/Sao_Paulo", 2018, 11, 4, "2018-11-04T03:00:00Z") // nor here
	f("America/Havana", 2024, 11, 3, "2024-11-03T04:00:00Z")    // 00:00 comes twice
	f("Pacific/Apia", 2011, 12, 30, "2011-12-30T10:00:00Z")     // the day does not exist
	f("Pacific/Apia", 2011, 12, 31, "2011-12-30T10:00:00Z")
	f("America/Toronto", 1919, 3, 31, "1919-03-31T04:30:00Z") // 23:30 became 00:30
}

// Days are laid end to end: none overlaps the next, in any year with changes.
func TestDaysAreContiguous(t *testing.T) {
	for _, zone := range []string{"Asia/Seoul", "America/New_York", "Africa/Cairo", "America/St_Johns", "Pacific/Apia", "America/Havana", "Asia/Beirut", "Australia/Lord_Howe"} {
		z, err := Zone(zone)
		if err != nil {
			t.Fatal(err)
		}
		last := startOfDay(2006, 1, 1, z)
		for d := 2; d < 366*20; d++ {
			day := time.Date(2006, 1, d, 0, 0, 0, 0, time.UTC)
			next := startOfDay(day.Year(), day.Month(), day.Day(), z)
			if n := next.Sub(last); n < 0 || n > 48*time.Hour {
				t.Fatalf("%s: %s lasts %s", zone, last, n)
			}
			last = next
		}
	}
}

// Each spelling that loads is kept: a client must not find many for one zone.
func TestZoneHasOneSpelling(t *testing.T) {
	before := len(zones.known)
	for _, name := range []string{"Asia//Seoul", "Asia/./Seoul", "./Asia/Seoul", "Asia/Seoul/", "/Asia/Seoul", "Asia///./Seoul", "Asia/../Asia/Seoul", "", "Local", "right/Asia/Seoul"} {
		if _, err := Zone(name); err == nil {
			t.Errorf("%q is taken", name)
		}
	}
	if n := len(zones.known); n != before {
		t.Errorf("%d more zones are kept", n-before)
	}
	for _, name := range []string{"UTC", "Asia/Seoul", "America/Argentina/Buenos_Aires", "Etc/GMT+9", "America/Port-au-Prince"} {
		if _, err := Zone(name); err != nil {
			t.Error(err)
		}
	}
}
