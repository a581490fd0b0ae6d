package capture

import (
	"testing"

	"prejoin/pkg/postgres/wal"
)

// TestATableIsKeptOnce however often it is described: each change of a table, and much else, describes it anew.
func TestATableIsKeptOnce(t *testing.T) {
	s := testShard(t)
	s.topics[s.topic("public", "a")] = true
	w := newWriter(s, newQueue(1<<20))
	for range 3 {
		described := &wal.Table{ID: 7, Schema: "public", Name: "a", Columns: []wal.Column{{Name: "id", Type: 20}}}
		if err := w.write(t.Context(), &wal.Event{Kind: wal.Described, Table: described}); err != nil {
			t.Fatal(err)
		}
		e := &wal.Event{Kind: wal.Insert, Table: described, New: []wal.Value{{State: wal.Text, Text: []byte("1")}}}
		if err := w.write(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	if len(w.tables) != 1 {
		t.Errorf("%d tables are kept, want 1", len(w.tables))
	}
}
