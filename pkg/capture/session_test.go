package capture

import (
	"log/slog"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

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
	confirmed, err := s.ensureSlot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	stream, err := s.source.Stream(t.Context(), confirmed)
	if err != nil {
		t.Fatal(err)
	}
	q := newQueue(1 << 20)
	q.mark(confirmed-1, time.Time{})
	q.close()
	if err := s.send(t.Context(), stream, q); err != nil {
		t.Fatal(err)
	}
	closeStream(t.Context(), stream)
	if _, err := s.ensureSlot(t.Context()); err != nil {
		t.Error(err)
	}
}
