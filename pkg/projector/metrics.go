package projector

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"prejoin/pkg/cdc"
	"prejoin/pkg/kafka"
)

// Metrics counts what the live loop does.
type Metrics struct {
	messages  *prometheus.CounterVec
	unrouted  *prometheus.CounterVec
	lag       *prometheus.GaugeVec
	assigned  prometheus.Gauge
	invisible *prometheus.GaugeVec
	batch     prometheus.Histogram
	walks     prometheus.Counter
	committed prometheus.Gauge
}

// NewMetrics registers the metrics with reg.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	f := promauto.With(reg)
	return &Metrics{
		messages: f.NewCounterVec(prometheus.CounterOpts{Name: "prejoin_messages_total",
			Help: "Messages read from Kafka, by what they are."}, []string{"kind"}),
		unrouted: f.NewCounterVec(prometheus.CounterOpts{Name: "prejoin_unrouted_changes_total",
			Help: "Changes of tables that no route of a model names."}, []string{"table"}),
		lag: f.NewGaugeVec(prometheus.GaugeOpts{Name: "prejoin_partition_lag_messages",
			Help: "Messages of a partition that are not fetched yet."}, []string{"topic", "partition"}),
		assigned: f.NewGauge(prometheus.GaugeOpts{Name: "prejoin_assigned_partitions",
			Help: "Partitions that this process owns."}),
		invisible: f.NewGaugeVec(prometheus.GaugeOpts{Name: "prejoin_invisible_keys",
			Help: "Documents and lookups that wait until a transaction is visible on the shard."}, []string{"shard", "model"}),
		batch: f.NewHistogram(prometheus.HistogramOpts{Name: "prejoin_batch_documents",
			Help: "Documents a batch of the live path.", Buckets: []float64{1, 3, 10, 30, 100, 300, 1000}}),
		walks: f.NewCounter(prometheus.CounterOpts{Name: "prejoin_walks_total",
			Help: "Fan-outs and walks that were finished."}),
		committed: f.NewGauge(prometheus.GaugeOpts{Name: "prejoin_last_commit_timestamp_seconds",
			Help: "Time of the last committed offset."}),
	}
}

func partitionLabel(tp kafka.TopicPartition) string { return strconv.Itoa(tp.Partition) }

func kindLabel(k cdc.Kind) string {
	switch k {
	case cdc.Row:
		return "row"
	case cdc.Truncate:
		return "truncate"
	case cdc.Tombstone:
		return "tombstone"
	case cdc.Marker:
		return "marker"
	default:
		return "other"
	}
}
