package refresh

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"prejoin/pkg/postgres"
)

// Metrics counts what refreshes do. All Refreshers of a process share one.
type Metrics struct {
	documents *prometheus.CounterVec
	retries   *prometheus.CounterVec
	read      prometheus.Histogram
	durable   prometheus.Histogram
	write     prometheus.Histogram
}

// NewMetrics registers the metrics with reg.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	f := promauto.With(reg)
	buckets := prometheus.ExponentialBuckets(0.0005, 2, 16) // 0.5 ms to 16 s
	return &Metrics{
		documents: f.NewCounterVec(prometheus.CounterOpts{Name: "prejoin_documents_total",
			Help: "Documents refreshed, by outcome: applied or superfluous (a newer or equal one was there)."}, []string{"shard", "model", "outcome"}),
		retries: f.NewCounterVec(prometheus.CounterOpts{Name: "prejoin_refresh_retries_total",
			Help: "Refreshes that an outage made try again."}, []string{"shard"}),
		read: f.NewHistogram(prometheus.HistogramOpts{Name: "prejoin_read_seconds",
			Help: "Time of one read of a shard: locks, snapshot, queries.", Buckets: buckets}),
		durable: f.NewHistogram(prometheus.HistogramOpts{Name: "prejoin_durable_wait_seconds",
			Help: "Wait of one read until what it saw was on the shard's disk.", Buckets: buckets}),
		write: f.NewHistogram(prometheus.HistogramOpts{Name: "prejoin_write_seconds",
			Help: "Time of one bulk of conditional writes.", Buckets: buckets}),
	}
}

func (m *Metrics) observe(t postgres.Timing) {
	m.read.Observe(t.Read.Seconds())
	m.durable.Observe(t.Durable.Seconds())
}

func (m *Metrics) count(shard, model string, res Result) {
	m.documents.WithLabelValues(shard, model, "applied").Add(float64(res.Applied))
	m.documents.WithLabelValues(shard, model, "superfluous").Add(float64(res.Superfluous))
}
