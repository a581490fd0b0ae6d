package refresh

import (
	"errors"
	"strings"
	"testing"

	"prejoin/pkg/postgres"
)

func TestGuardRefusesAnotherLife(t *testing.T) {
	home := postgres.Identity{Incarnation: "a", RowSystem: "1", SystemIdentifier: "1", Timeline: 3}
	f := func(change func(*postgres.Snapshot), want string) {
		t.Helper()
		g := NewGuard("shard0", 2, 50, home)
		s := postgres.Snapshot{XMax: 60, Identity: home}
		change(&s)
		err := g.Admit(s, g.Highest())
		var incarnation *IncarnationError
		switch {
		case want == "" && (err != nil || g.Highest() != s.Rank()):
			t.Errorf("refused: %v, highest %d", err, g.Highest())
		case want != "" && (!errors.As(err, &incarnation) || !strings.Contains(err.Error(), want) || g.Highest() != 50):
			t.Errorf("got %v (highest %d), want %q", err, g.Highest(), want)
		}
	}
	f(func(*postgres.Snapshot) {}, "")
	f(func(s *postgres.Snapshot) { s.XMax = 50 }, "")
	f(func(s *postgres.Snapshot) { s.XMax = 49 }, "rank fell from 50 to 49")
	f(func(s *postgres.Snapshot) { s.XMax, s.InProgress = 51, []uint64{48, 49} }, "rank fell")
	f(func(s *postgres.Snapshot) { s.Identity.Incarnation = "" }, "as after a crash")
	f(func(s *postgres.Snapshot) { s.Identity.Incarnation = "b" }, "incarnation id changed")
	f(func(s *postgres.Snapshot) { s.Identity.SystemIdentifier = "2" }, "system identifier changed")
	f(func(s *postgres.Snapshot) { s.Identity.RowSystem = "2" }, "system identifier changed")
	f(func(s *postgres.Snapshot) { s.Identity.Timeline = 4 }, "timeline went from 3 to 4")
}

// TestGuardComparesWithTheRankBeforeTheRead: two reads that overlap may end in
// any order; only a rank below what was known before a read began is a fall.
func TestGuardComparesWithTheRankBeforeTheRead(t *testing.T) {
	home := postgres.Identity{Incarnation: "a", RowSystem: "1", SystemIdentifier: "1", Timeline: 1}
	g := NewGuard("shard0", 1, 10, home)
	before := g.Highest()
	later, earlier := postgres.Snapshot{XMax: 30, Identity: home}, postgres.Snapshot{XMax: 20, Identity: home}
	if err := errors.Join(g.Admit(later, before), g.Admit(earlier, before)); err != nil || g.Highest() != 30 {
		t.Errorf("%v, highest %d", err, g.Highest())
	}
}

func TestArrayLiterals(t *testing.T) {
	f := func(want string, values ...string) {
		t.Helper()
		if got := string(array(values)); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	f(`{}`)
	f(`{"1","-2"}`, "1", "-2")
	f(`{"a,b","{","NULL","","q\"\\"}`, "a,b", "{", "NULL", "", `q"\`)
}
