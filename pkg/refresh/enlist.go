package refresh

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"prejoin/pkg/mongodb"
	"prejoin/pkg/postgres"
)

// Records keeps what is known of each shard's life; *mongodb.DB is one.
type Records interface {
	Shard(ctx context.Context, name string) (*mongodb.ShardRecord, error)
	RegisterShard(context.Context, mongodb.ShardRecord) (*mongodb.ShardRecord, error)
	RaiseEpoch(ctx context.Context, seen, next mongodb.ShardRecord) (*mongodb.ShardRecord, bool, error)
}

// Living tells which life of the shard this is, and its rank; *postgres.Shard is one.
type Living interface {
	Name() string
	Identify(context.Context) (postgres.Identity, int64, error)
}

// Consent is what Enlist may do to a shard's record.
type Consent int

// The consents: a command that changes no record; one that works on a shard
// whose walk is done, and may register a new one; one that walks, and may
// register too; and one that an operator told to accept a new incarnation.
const (
	ReadOnly Consent = iota
	Work
	Walk
	Accept
)

// Enlist compares the shard with its record and returns the guard of its
// present epoch. A shard that is not what the record says is an
// IncarnationError, unless the operator accepts it: then the epoch is raised,
// and a walk over all documents is owed before other work may begin.
func Enlist(ctx context.Context, shard Living, records Records, consent Consent) (*Guard, error) {
	// The record first: a rank that another process records between the two
	// would make a healthy shard's rank look fallen.
	record, err := records.Shard(ctx, shard.Name())
	if err != nil && !errors.Is(err, mongodb.ErrNotFound) {
		return nil, err
	}
	identity, rank, err := shard.Identify(ctx)
	if err != nil {
		return nil, err
	}
	if record == nil {
		if record, err = register(ctx, shard.Name(), identity, records, consent); err != nil {
			return nil, err
		}
	}
	if err := check(record, identity, consent); err != nil {
		return nil, err
	}
	guard := NewGuard(shard.Name(), record.Epoch, record.HighestRank, expected(record))
	why := guard.differs(identity, rank, record.HighestRank)
	switch {
	case why == "":
		return guard, nil
	case consent != Accept:
		return nil, &IncarnationError{Shard: shard.Name(), Why: why}
	}
	return accept(ctx, *record, identity, records)
}

func register(ctx context.Context, name string, identity postgres.Identity, records Records, consent Consent) (*mongodb.ShardRecord, error) {
	if consent == ReadOnly {
		return nil, fmt.Errorf("nothing was projected from shard %s yet: run projector backfill first", name)
	}
	return records.RegisterShard(ctx, mongodb.ShardRecord{Name: name, Epoch: 1, Incarnations: []string{identity.Incarnation},
		SystemIdentifier: identity.SystemIdentifier, Timeline: identity.Timeline})
}

func check(r *mongodb.ShardRecord, identity postgres.Identity, consent Consent) error {
	switch n := len(r.Incarnations); {
	case n == 0:
		return fmt.Errorf("the record of shard %s in _prejoin.shards has no incarnation: restore that record from a backup", r.Name)
	case slices.Contains(r.Incarnations[:n-1], identity.Incarnation):
		return fmt.Errorf("shard %s answers under an incarnation that a newer one has replaced: this is an old primary. Give the DSN of the true one", r.Name)
	case consent == Work && r.Walked < r.Epoch:
		return fmt.Errorf("shard %s has epoch %d, but its documents were last all read under epoch %d: let projector backfill run to its end first", r.Name, r.Epoch, r.Walked)
	}
	return nil
}

func expected(r *mongodb.ShardRecord) postgres.Identity {
	return postgres.Identity{Incarnation: r.Incarnations[len(r.Incarnations)-1], RowSystem: r.SystemIdentifier,
		SystemIdentifier: r.SystemIdentifier, Timeline: r.Timeline}
}

// accept raises the epoch: every document is then older than what is read.
func accept(ctx context.Context, seen mongodb.ShardRecord, identity postgres.Identity, records Records) (*Guard, error) {
	next := seen
	if ids := seen.Incarnations; ids[len(ids)-1] != identity.Incarnation {
		next.Incarnations = append(slices.Clone(ids), identity.Incarnation)
	}
	next.SystemIdentifier, next.Timeline, next.HighestRank = identity.SystemIdentifier, identity.Timeline, 0
	record, won, err := records.RaiseEpoch(ctx, seen, next)
	if err != nil {
		return nil, fmt.Errorf("raising the epoch of shard %s: %w", seen.Name, err)
	}
	if !won {
		return nil, fmt.Errorf("another process changed the record of shard %s at the same time: run the command again", seen.Name)
	}
	return NewGuard(record.Name, record.Epoch, 0, expected(record)), nil
}
