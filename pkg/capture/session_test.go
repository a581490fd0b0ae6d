package capture

import (
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"prejoin/pkg/postgres/wal"
	"prejoin/pkg/testenv"
)

func testShard(t *testing.T) *shard {
	t.Helper()
	p := testenv.Postgres(t)
	cfg := Config{Slot: p.Slot, Publication: "prejoin", Log: slog.New(slog.DiscardHandler)}
	s, err := newShard(t.Context(), cfg, Source{Name: p.Name, DSN: p.CaptureDSN}, nil, newMetrics(prometheus.NewRegistry()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.source.Close)
	return s
}

// TestASignFromBeforeTheConfirmedIsNoLoss: the shard reads from further back than what is confirmed and may say so while it is idle. Taken for
// all that was captured, it made the slot's own position look like another reader's.
func TestASignFromBeforeTheConfirmedIsNoLoss(t *testing.T) {
	s := testShard(t)
	stream, err := s.open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	confirmed := s.acked.Load()
	q := newQueue(1 << 20)
	q.mark(confirmed-1, time.Time{})
	q.close()
	if err := s.send(t.Context(), stream, q); err != nil {
		t.Fatal(err)
	}
	closeStream(t.Context(), stream)
	for stream, err = s.open(t.Context()); errors.Is(err, wal.ErrSlotActive); stream, err = s.open(t.Context()) {
		time.Sleep(10 * time.Millisecond) // the first one's process is still there
	}
	if err != nil {
		t.Fatal(err)
	}
	closeStream(t.Context(), stream)
}
