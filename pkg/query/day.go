package query

import (
	"regexp"
	"strings"
	"sync"
	"time"
)

// zones keeps the locations that loaded. Where file names have several spellings
// (Asia//Seoul, asia/seoul on some systems), so would one zone: only the plain
// form is read, and no more are kept than the database has names, about 600.
var zones = struct {
	sync.RWMutex
	known map[string]*time.Location
}{known: map[string]*time.Location{}}

const maxZones = 1000

var zoneForm = regexp.MustCompile(`^[A-Za-z0-9_+-]+(/[A-Za-z0-9_+-]+){0,2}$`)

// Zone finds an IANA time zone. "Local" is refused, since it is the server's,
// and so are the folders posix/ and right/ of the database. The error is a *Problem.
func Zone(name string) (*time.Location, error) {
	zones.RLock()
	z := zones.known[name]
	zones.RUnlock()
	if z != nil {
		return z, nil
	}
	ok := len(name) <= 64 && zoneForm.MatchString(name) && name != "Local" && !strings.HasPrefix(name, "posix") && !strings.HasPrefix(name, "right/")
	if !ok {
		return nil, badParameter("tz=%s is not a time zone; give an IANA name such as Asia/Seoul.", short(name))
	}
	z, err := time.LoadLocation(name)
	if err != nil {
		return nil, badParameter("tz=%s is not a time zone; give an IANA name such as Asia/Seoul.", short(name))
	}
	keepZone(name, z)
	return z, nil
}

func keepZone(name string, z *time.Location) {
	zones.Lock()
	defer zones.Unlock()
	if len(zones.known) < maxZones {
		zones.known[name] = z
	}
}

// startOfDay is the first instant of a calendar day in a zone. Midnight may not
// exist (Cairo and Beirut spring forward at 00:00), may come twice (Havana falls
// back at 01:00), and a whole day may be missing (Apia, 2011-12-30); time.Date
// promises neither of two choices then, so the zone's bounds decide.
func startOfDay(y int, m time.Month, d int, z *time.Location) time.Time {
	t := time.Date(y, m, d, 0, 0, 0, 0, z)
	start, end := t.ZoneBounds()
	want, have := wall(time.Date(y, m, d, 0, 0, 0, 0, time.UTC)), wall(t)
	switch {
	case have < want && !end.IsZero():
		return end // the zone jumped over midnight: the day begins at the jump
	case have > want && !start.IsZero():
		return start
	}
	return firstOfTwo(t, start)
}

// firstOfTwo is the earlier of two instants with the same wall clock, where the
// zone's change before t made it come twice.
func firstOfTwo(t, start time.Time) time.Time {
	if start.IsZero() {
		return t
	}
	_, now := t.Zone()
	_, before := start.Add(-time.Second).Zone()
	earlier := t.Add(time.Duration(now-before) * time.Second)
	if earlier.Before(start) && wall(earlier) == wall(t) {
		return earlier
	}
	return t
}

// wall is the wall clock as a number that orders like the clock.
func wall(t time.Time) int64 {
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), 0, time.UTC).Unix()
}
