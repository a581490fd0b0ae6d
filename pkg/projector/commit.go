package projector

import (
	"context"
	"errors"
	"fmt"
	"time"

	"prejoin/pkg/kafka"
	"prejoin/pkg/retry"
)

// commitLoop commits what is contiguous, until the context ends.
func (g *generation) commitLoop(ctx context.Context) error {
	for retry.Sleep(ctx, g.cfg.CommitEvery) {
		if err := g.commit(ctx); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// commit stores the watermarks in MongoDB, then in Kafka, and only while the
// shards' records show the epochs that the documents were read under.
func (g *generation) commit(ctx context.Context) error {
	moved := g.tracker.watermarks()
	if len(moved) == 0 {
		return nil
	}
	if err := g.storing(ctx, g.cfg.Store.Confirm); err != nil {
		return err
	}
	err := g.storing(ctx, func(ctx context.Context) error { return g.cfg.Store.StoreWatermarks(ctx, moved) })
	if err != nil {
		return fmt.Errorf("storing the watermarks: %w", err)
	}
	err = retry.Do(ctx, retry.Policy{Notify: g.notify("waiting for Kafka to take a commit")}, kafka.Temporary,
		func(ctx context.Context) error { return g.gen.Commit(ctx, moved) })
	if err != nil {
		return fmt.Errorf("committing offsets: %w", err)
	}
	g.cfg.Metrics.committed.SetToCurrentTime()
	return nil
}

// finish commits once more and says what is left for the next start.
func (g *generation) finish(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	err := g.commit(ctx)
	if left := g.tracker.waiting(); left > 0 {
		g.cfg.Log.Info("messages are left for the next owner of their partitions", "messages", left)
	}
	if errors.Is(err, kafka.ErrOwnershipLost) || errors.Is(err, context.DeadlineExceeded) {
		return nil // the next owner reads them again, which changes nothing
	}
	return err
}
