package postgres

import (
	"testing"

	"pgregory.net/rapid"
)

func TestRankAndVisibility(t *testing.T) {
	xmin, xmax, running, err := parseSnapshot("4294967300:4294967310:4294967300,4294967304")
	if err != nil {
		t.Fatal(err)
	}
	s := Snapshot{XMin: xmin, XMax: xmax, InProgress: running}
	if s.Rank() != 4294967308 {
		t.Errorf("rank %d", s.Rank())
	}
	f := func(full uint64, want bool) {
		t.Helper()
		if got := s.Sees(uint32(full)); got != want { //nolint:gosec // the wire has 32 bits
			t.Errorf("sees %d: %v, want %v", full, got, want)
		}
	}
	f(4294967300, false) // running
	f(4294967304, false)
	f(4294967305, true)
	f(4294967290, true) // over the wraparound
	f(4294967310, false)
	f(4294967400, false) // from the future
}

func TestBadSnapshots(t *testing.T) {
	for _, text := range []string{"", "1:2", "1:2:3:4", "x:2:", "1:2:,", "-1:2:"} {
		if _, _, _, err := parseSnapshot(text); err == nil {
			t.Errorf("%q was read", text)
		}
	}
}

// TestWiden holds for all ids within 2^31 of each other, which PostgreSQL ensures.
func TestWiden(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		near := rapid.Uint64Range(3, 1<<40).Draw(t, "near")
		full := rapid.Uint64Range(max(near, 1<<31)-min(near, 1<<31)+1, near+1<<31-1).Draw(t, "full")
		if full < near && near-full >= 1<<31 || full < 3 {
			t.Skip()
		}
		if got := Widen(uint32(full), near); got != full { //nolint:gosec // the wire has 32 bits
			t.Fatalf("Widen(%d, %d) = %d, want %d", uint32(full), near, got, full) //nolint:gosec // as above
		}
	})
}
