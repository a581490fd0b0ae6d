package capture_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"prejoin/pkg/kafka"
	"prejoin/pkg/testenv"
)

// TestIsQuickWhenIdleAndFastUnderLoad: no fixed delay stands between a commit and Kafka, and a large transaction streams. The bounds
// are loose, for the machine may be busy; the figures are logged.
func TestIsQuickWhenIdleAndFastUnderLoad(t *testing.T) {
	r := newRig(t, testenv.Postgres(t))
	r.cfg.Partitions = 4
	r.own("a", "id bigint PRIMARY KEY, merchant_id bigint, amount numeric(18,2), status text, at timestamptz, note text", "FULL")
	r.start()
	r.exec("INSERT INTO a (id) VALUES (0)")
	r.settle()

	topic := r.shard.Name + ".public.a"
	var took []time.Duration
	for i := range 50 {
		before := r.end(topic)
		start := time.Now()
		r.exec(fmt.Sprintf("INSERT INTO a (id) VALUES (%d)", -i-1))
		for r.end(topic) == before && time.Since(start) < 5*time.Second {
			time.Sleep(200 * time.Microsecond)
		}
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	t.Logf("commit to Kafka when idle: median %v, p90 %v, max %v", took[25], took[45], took[49])
	if took[25] > 500*time.Millisecond {
		t.Errorf("the median is %v", took[25])
	}

	const rows = 20_000
	before := r.end(topic)
	start := time.Now()
	r.exec(fmt.Sprintf("INSERT INTO a SELECT g, g %% 500, g * 1.01, 'PAID', now(), 'a note of some length ' || g FROM generate_series(1, %d) g", rows))
	inserted := time.Since(start)
	for r.end(topic) < before+rows && time.Since(start) < time.Minute {
		time.Sleep(5 * time.Millisecond)
	}
	all := time.Since(start)
	t.Logf("%d rows in one transaction: inserted in %v, all in Kafka %v after its commit: %.0f rows/s", rows, inserted, all-inserted, rows/(all-inserted).Seconds())
	if rate := rows / (all - inserted).Seconds(); rate < 500 {
		t.Errorf("%.0f rows/s", rate)
	}
}

func (r *rig) end(topic string) (total int64) {
	r.t.Helper()
	ends, err := r.client.EndOffsets(context.Background(), []string{topic})
	if err != nil {
		r.t.Fatal(err)
	}
	for p := range 4 {
		total += ends[kafka.TopicPartition{Topic: topic, Partition: p}]
	}
	return total
}
