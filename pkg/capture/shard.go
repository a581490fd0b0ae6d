package capture

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"prejoin/pkg/kafka"
	"prejoin/pkg/logging"
	"prejoin/pkg/postgres/wal"
	"prejoin/pkg/retry"
)

// shard captures one shard over as many connections as it takes.
type shard struct {
	name    string
	cfg     Config
	source  *wal.Shard
	broker  Broker
	metrics *metrics
	log     *slog.Logger
	warn    *logging.Throttle

	topics     map[string]bool // that exist
	acceptLost bool            // a lost slot may be created anew
	acked      atomic.Uint64   // everything before it is in Kafka
	status     atomic.Pointer[error]
}

var errStarting = errors.New("still starting")

func newShard(ctx context.Context, cfg Config, source Source, broker Broker, m *metrics) (*shard, error) {
	log := cfg.Log.With("shard", source.Name)
	opened, err := wal.Open(ctx, wal.Config{Shard: source.Name, DSN: source.DSN, Slot: cfg.Slot, Publication: cfg.Publication, Log: cfg.Log})
	if err != nil {
		return nil, err
	}
	s := &shard{name: source.Name, cfg: cfg, source: opened, broker: broker, metrics: m, log: log,
		warn: logging.NewThrottle(log, 10*time.Second), topics: map[string]bool{}, acceptLost: cfg.AcceptLostSlot}
	s.setState(errStarting)
	return s, nil
}

func (s *shard) setState(err error) { s.status.Store(&err) }
func (s *shard) state() error       { return *s.status.Load() }

// run reads the slot until ctx ends, and again after each loss of a connection. It returns nil at the end of ctx.
func (s *shard) run(ctx context.Context) error {
	beat, stop := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() { defer close(done); s.beat(beat) }()
	defer func() { stop(); <-done }()

	policy := retry.Policy{First: 100 * time.Millisecond, Cap: 5 * time.Second}
	for attempt := 1; ; attempt++ {
		began := time.Now()
		err := s.session(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if !temporary(err) {
			return err
		}
		s.setState(err)
		s.metrics.reconnects.WithLabelValues(s.name).Inc()
		s.warn.Warn(ctx, "session", "the capture was interrupted and tries again", "error", logging.RedactText(err.Error()))
		if time.Since(began) > policy.Cap {
			attempt = 1
		}
		if !retry.Sleep(ctx, policy.Wait(attempt)) {
			return nil
		}
	}
}

func temporary(err error) bool { return wal.Temporary(err) || kafka.Temporary(err) }

// beat writes the heartbeat row: it comes back through the slot as a heartbeat message.
func (s *shard) beat(ctx context.Context) {
	for retry.Sleep(ctx, s.cfg.Heartbeat) {
		if s.state() != nil {
			continue // nobody reads the slot
		}
		if err := s.source.Heartbeat(ctx); err != nil && ctx.Err() == nil {
			s.warn.Warn(ctx, "heartbeat", "an idle shard's slot does not move on without a heartbeat", "error", logging.RedactText(err.Error()))
		}
	}
}
