package capture

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

type metrics struct {
	rows, messages, bytes, reconnects, shrunk *prometheus.CounterVec
	confirmed, behind                         *prometheus.GaugeVec
	send                                      *prometheus.HistogramVec
}

func newMetrics(r prometheus.Registerer) *metrics {
	if r == nil {
		r = prometheus.NewRegistry()
	}
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		c := prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "prejoin", Subsystem: "capture", Name: name, Help: help}, append([]string{"shard"}, labels...))
		r.MustRegister(c)
		return c
	}
	gauge := func(name, help string) *prometheus.GaugeVec {
		g := prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: "prejoin", Subsystem: "capture", Name: name, Help: help}, []string{"shard"})
		r.MustRegister(g)
		return g
	}
	m := &metrics{
		rows:       counter("events_total", "Change events read, by Debezium's op.", "op"),
		messages:   counter("messages_total", "Messages that Kafka acknowledged."),
		bytes:      counter("bytes_total", "Bytes of the messages that Kafka acknowledged."),
		reconnects: counter("reconnects_total", "Interruptions after which the slot was read anew."),
		shrunk:     counter("shrunk_total", "Messages whose large texts were left out."),
		confirmed:  gauge("confirmed_lsn_bytes", "Position in the WAL up to which everything is in Kafka."),
		behind:     gauge("behind_seconds", "Time from the commit of the newest transaction sent to its acknowledgement."),
		send: prometheus.NewHistogramVec(prometheus.HistogramOpts{Namespace: "prejoin", Subsystem: "capture", Name: "send_seconds",
			Help: "Time of one send, from the request to the acknowledgement of all replicas.", Buckets: prometheus.ExponentialBuckets(0.0005, 2, 14)}, []string{"shard"}),
	}
	r.MustRegister(m.send)
	return m
}

func (m *metrics) sent(shard string, b batch, took time.Duration) {
	if len(b.messages) > 0 {
		size := 0
		for i := range b.messages {
			size += len(b.messages[i].Key) + len(b.messages[i].Value)
		}
		m.messages.WithLabelValues(shard).Add(float64(len(b.messages)))
		m.bytes.WithLabelValues(shard).Add(float64(size))
		m.send.WithLabelValues(shard).Observe(took.Seconds())
	}
	if b.end > 0 {
		m.confirmed.WithLabelValues(shard).Set(float64(b.end))
	}
	if !b.committed.IsZero() {
		m.behind.WithLabelValues(shard).Set(time.Since(b.committed).Seconds())
	}
}
