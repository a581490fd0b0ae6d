package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/segmentio/kafka-go"

	"prejoin/pkg/devstack"
)

// What the capture and the projector are called where they keep their places.
const (
	group = "prejoin-projector"
	slot  = "prejoin"
)

// catchUp waits until the documents show all that was committed before the call:
// each shard's slot has handed it to Kafka, and the projector's group has
// committed the end offsets listed after that.
func (l *local) catchUp(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, 5*time.Minute, fmt.Errorf("the read model did not catch up within 5 minutes"))
	defer cancel()
	for _, p := range l.stack.Shards {
		if err := captured(ctx, p); err != nil {
			return fmt.Errorf("waiting until %s is captured: %w; see %s", p.Name, err, l.stack.Folder.File("projector-capture.log"))
		}
	}
	if err := consumed(ctx, l.stack.Kafka.Brokers()); err != nil {
		return fmt.Errorf("waiting until the projector has caught up: %w; see %s", err, l.stack.Folder.File("projector-run.log"))
	}
	l.say("the read model has caught up")
	return nil
}

// captured waits until the shard's slot has confirmed what was committed before.
func captured(ctx context.Context, p *devstack.Postgres) error {
	conn, err := pgx.Connect(ctx, p.DSN(p.Name))
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	var end string
	if err := conn.QueryRow(ctx, "SELECT pg_current_wal_flush_lsn()::text").Scan(&end); err != nil {
		return err
	}
	const passed = "SELECT coalesce(bool_and(confirmed_flush_lsn >= $1::text::pg_lsn), false) FROM pg_replication_slots WHERE slot_name = $2"
	for {
		var done bool
		if err := conn.QueryRow(ctx, passed, end, slot).Scan(&done); err != nil || done {
			return err
		}
		if err := sleep(ctx, 50*time.Millisecond); err != nil {
			return err
		}
	}
}

// consumed waits until the group has committed the end offsets of now.
func consumed(ctx context.Context, brokers []string) error {
	transport := &kafka.Transport{}
	defer transport.CloseIdleConnections()
	c := &kafka.Client{Addr: kafka.TCP(brokers...), Transport: transport, Timeout: 10 * time.Second}
	ends, err := endOffsets(ctx, c)
	if err != nil {
		return err
	}
	for {
		behind, err := behind(ctx, c, ends)
		if err == nil && behind == 0 || err != nil && !passes(err) {
			return err
		}
		if stopped := sleep(ctx, 50*time.Millisecond); stopped != nil {
			if err != nil {
				return fmt.Errorf("%w (%w)", stopped, err)
			}
			return fmt.Errorf("%w (%d messages behind)", stopped, behind)
		}
	}
}

// passes: the broker says by err that it will answer in a moment, as while a
// group finds its coordinator.
func passes(err error) bool {
	code, ok := errors.AsType[kafka.Error](err)
	return ok && code.Temporary()
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
