package refresh

import (
	"context"
	"errors"
	"strings"
	"testing"

	"prejoin/pkg/mongodb"
	"prejoin/pkg/postgres"
)

// life is a shard and MongoDB's record of it.
type life struct {
	identity postgres.Identity
	rank     int64
	record   *mongodb.ShardRecord
	asked    []string // in order: what was read first
}

func (l *life) Name() string { return "shard0" }

func (l *life) Identify(context.Context) (postgres.Identity, int64, error) {
	l.asked = append(l.asked, "shard")
	return l.identity, l.rank, nil
}

func (l *life) Shard(context.Context, string) (*mongodb.ShardRecord, error) {
	l.asked = append(l.asked, "record")
	if l.record == nil {
		return nil, mongodb.ErrNotFound
	}
	r := *l.record
	return &r, nil
}

func (l *life) RegisterShard(_ context.Context, r mongodb.ShardRecord) (*mongodb.ShardRecord, error) {
	r.Walked = r.Epoch
	l.record = &r
	return &r, nil
}

func (l *life) RaiseEpoch(_ context.Context, seen, next mongodb.ShardRecord) (*mongodb.ShardRecord, bool, error) {
	next.Epoch = seen.Epoch + 1
	l.record = &next
	return &next, true, nil
}

func lived(incarnations ...string) *life {
	return &life{identity: postgres.Identity{Incarnation: incarnations[len(incarnations)-1], RowSystem: "1", SystemIdentifier: "1", Timeline: 1}, rank: 70,
		record: &mongodb.ShardRecord{Name: "shard0", Epoch: 2, Walked: 2, Incarnations: incarnations, SystemIdentifier: "1", Timeline: 1, HighestRank: 60}}
}

func TestEnlist(t *testing.T) {
	f := func(what string, change func(*life), consent Consent, epoch int64, want string) {
		t.Helper()
		l := lived("a", "b")
		change(l)
		g, err := Enlist(t.Context(), l, l, consent)
		switch {
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: got %v, want %q", what, err, want)
		case want == "" && (err != nil || g.Epoch() != epoch):
			t.Errorf("%s: %v, guard %+v", what, err, g)
		}
		if l.asked[0] != "record" {
			t.Errorf("%s: the rank was read before the record: a peer's newer rank would look like a fall", what)
		}
	}
	same := func(*life) {}
	newLife := func(l *life) { l.identity.Incarnation = "c" }
	f("as recorded", same, Work, 2, "")
	f("as recorded, accepted", same, Accept, 2, "")
	f("new incarnation", newLife, Work, 0, "--accept-incarnation")
	f("new incarnation, walking", newLife, Walk, 0, "--accept-incarnation")
	f("new incarnation, accepted", newLife, Accept, 3, "")
	f("fallen rank", func(l *life) { l.rank = 59 }, Work, 0, "rank fell from 60 to 59")
	f("fallen rank, accepted", func(l *life) { l.rank = 59 }, Accept, 3, "")
	f("old primary", func(l *life) { l.identity.Incarnation = "a" }, Work, 0, "old primary")
	f("old primary, accepted", func(l *life) { l.identity.Incarnation = "a" }, Accept, 0, "old primary")
	owed := func(l *life) { l.record.Walked = 1 }
	f("walk owed", owed, Work, 0, "run to its end")
	f("walk owed, walking", owed, Walk, 2, "")
	f("walk owed, reading", owed, ReadOnly, 2, "")
	f("unknown", func(l *life) { l.record = nil }, ReadOnly, 0, "run projector backfill first")
	f("unknown, working", func(l *life) { l.record = nil }, Work, 1, "")
}

func TestAcceptedIncarnationEntersTheHistory(t *testing.T) {
	l := lived("a")
	l.identity.Incarnation, l.rank = "b", 5
	g, err := Enlist(t.Context(), l, l, Accept)
	if err != nil || g.Highest() != 0 {
		t.Fatal(err, g)
	}
	if got := strings.Join(l.record.Incarnations, " "); got != "a b" || l.record.HighestRank != 0 || l.record.Walked != 2 {
		t.Errorf("record %+v", l.record)
	}
	var incarnation *IncarnationError
	l.identity.Incarnation = "c"
	if _, err := Enlist(t.Context(), l, l, Walk); !errors.As(err, &incarnation) {
		t.Error(err)
	}
}
