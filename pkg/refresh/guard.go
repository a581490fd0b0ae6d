package refresh

import (
	"fmt"
	"sync"

	"prejoin/pkg/postgres"
)

// Guard knows the epoch of one shard and refuses snapshots of another
// incarnation. It is shared by all that reads the shard.
type Guard struct {
	shard    string
	epoch    int64
	identity postgres.Identity

	mu      sync.Mutex
	highest int64
}

// NewGuard starts from the shard's record: its epoch, the highest rank
// recorded, and the identity that was found equal to the record's.
func NewGuard(shard string, epoch, highest int64, identity postgres.Identity) *Guard {
	return &Guard{shard: shard, epoch: epoch, highest: highest, identity: identity}
}

// Epoch is the epoch that documents are stamped with.
func (g *Guard) Epoch() int64 { return g.epoch }

// Highest is the highest rank seen.
func (g *Guard) Highest() int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.highest
}

// Admit checks a snapshot against the incarnation and against the highest rank
// seen before it was taken. The error is an IncarnationError.
func (g *Guard) Admit(s postgres.Snapshot, before int64) error {
	if why := g.differs(s.Identity, s.Rank(), before); why != "" {
		return &IncarnationError{Shard: g.shard, Why: why}
	}
	g.mu.Lock()
	g.highest = max(g.highest, s.Rank())
	g.mu.Unlock()
	return nil
}

func (g *Guard) differs(now postgres.Identity, rank, before int64) string {
	want := g.identity
	switch {
	case now.Incarnation == "":
		return "its incarnation row is gone, as after a crash"
	case now.Incarnation != want.Incarnation:
		return "its incarnation id changed"
	case now.SystemIdentifier != want.SystemIdentifier || now.RowSystem != now.SystemIdentifier:
		return "its system identifier changed, as after a restore into a new cluster"
	case now.Timeline != want.Timeline:
		return fmt.Sprintf("its timeline went from %d to %d", want.Timeline, now.Timeline)
	case rank < before:
		return fmt.Sprintf("its rank fell from %d to %d", before, rank)
	}
	return ""
}
