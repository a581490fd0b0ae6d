package sample

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"
)

// ErrNotEmpty is returned by Seed for a database that already holds merchants.
var ErrNotEmpty = errors.New("the shard already holds data")

// SeedConfig says what Seed makes.
type SeedConfig struct {
	Shards      []string // a DSN a shard, migrated and empty; 1 to MaxShards
	Settlements int      // over all shards; 1 to 100 million
	Seed        uint64   // the same seed and numbers give the same rows
}

// ShardCounts is what was written to one shard. Payments are as many as orders.
type ShardCounts struct{ Merchants, Orders, Settlements, Lines int64 }

// Rows is the number of rows of the shard's own tables.
func (c ShardCounts) Rows() int64 { return c.Merchants + 2*c.Orders + c.Settlements + c.Lines }

// SeedReport is what Seed did, a ShardCounts a shard in the order of the DSNs.
type SeedReport struct {
	Shards []ShardCounts
	Took   time.Duration
}

// Seed fills empty shards. Every shard is loaded in one transaction and none is
// committed before all are loaded, so a failed seed leaves the shards empty (a
// connection that breaks between two commits is the one exception).
func Seed(ctx context.Context, cfg SeedConfig) (SeedReport, error) {
	if len(cfg.Shards) < 1 || len(cfg.Shards) > MaxShards {
		return SeedReport{}, fmt.Errorf("%d shards cannot be seeded: give 1 to %d DSNs", len(cfg.Shards), MaxShards)
	}
	if cfg.Settlements < 1 || cfg.Settlements > maxSettlements {
		return SeedReport{}, fmt.Errorf("%d settlements cannot be seeded: give 1 to %d", cfg.Settlements, maxSettlements)
	}
	start := time.Now()
	s := seeding{cfg: cfg, loaders: make([]loader, len(cfg.Shards)), deals: generator{seed: cfg.Seed, slots: slots(cfg.Settlements, cfg.Seed)}}
	defer s.close()
	for _, step := range []func(context.Context, int) error{s.load, s.commit} {
		if err := s.everywhere(ctx, step); err != nil {
			return SeedReport{}, err
		}
	}
	report := SeedReport{Took: time.Since(start)}
	for i := range s.loaders {
		report.Shards = append(report.Shards, s.loaders[i].counts)
	}
	return report, nil
}

type seeding struct {
	cfg     SeedConfig
	deals   generator
	loaders []loader
}

func (s *seeding) everywhere(ctx context.Context, step func(context.Context, int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	for shard := range s.loaders {
		group.Go(func() error {
			if err := step(ctx, shard); err != nil {
				return fmt.Errorf("seeding shard %d: %w", shard, err)
			}
			return nil
		})
	}
	return group.Wait()
}

func (s *seeding) load(ctx context.Context, shard int) error {
	conn, err := pgx.Connect(ctx, s.cfg.Shards[shard])
	if err != nil {
		return fmt.Errorf("connecting: %w; is the server up?", err)
	}
	l := &s.loaders[shard]
	l.conn = conn
	if err := l.begin(ctx); err != nil {
		return err
	}
	keys, err := dropForeignKeys(ctx, conn)
	if err != nil {
		return err
	}
	if err := s.fill(ctx, shard); err != nil {
		return err
	}
	// The planner needs figures before the keys are checked, readers after. The
	// tables are named: a bare ANALYZE locks the cluster's shared catalogs until
	// the commit, so two seeds over the same two clusters would wait for each
	// other for ever, one lock in each, where no deadlock detector sees both.
	if _, err := conn.Exec(ctx, "ANALYZE partner, merchant, orders, payment, settlement, settlement_line, shard_map"); err != nil {
		return fmt.Errorf("analyzing: %w", err)
	}
	return addForeignKeys(ctx, conn, keys)
}

func (s *seeding) fill(ctx context.Context, shard int) error {
	l, shards := &s.loaders[shard], len(s.loaders)
	var err error
	if l.counts.Merchants, err = loadReference(ctx, l.conn, shard, shards, s.cfg.Seed); err != nil {
		return err
	}
	if err := s.deals.each(shard, shards, func(d *deal) error { return l.add(ctx, d) }); err != nil {
		return err
	}
	return l.flush(ctx)
}

func (l *loader) begin(ctx context.Context) error {
	if _, err := l.conn.Exec(ctx, "BEGIN"); err != nil {
		return err
	}
	var filled bool
	err := l.conn.QueryRow(ctx, "SELECT EXISTS (SELECT FROM merchant) OR EXISTS (SELECT FROM partner) OR EXISTS (SELECT FROM shard_map)").Scan(&filled)
	if err != nil {
		return fmt.Errorf("looking for rows: %w; migrate the shard first", err)
	}
	if filled {
		return fmt.Errorf("%w: seed a fresh database", ErrNotEmpty)
	}
	return nil
}

func (s *seeding) commit(ctx context.Context, shard int) error {
	_, err := s.loaders[shard].conn.Exec(ctx, "COMMIT")
	return err
}

func (s *seeding) close() {
	for i := range s.loaders {
		if conn := s.loaders[i].conn; conn != nil {
			_ = conn.Close(context.Background())
		}
	}
}
