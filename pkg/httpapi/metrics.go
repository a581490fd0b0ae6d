package httpapi

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"prejoin/pkg/export"
)

type metrics struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	exports  *prometheus.CounterVec
	running  prometheus.Gauge
	rows     *prometheus.CounterVec
	bytes    *prometheus.CounterVec
	sections *prometheus.HistogramVec
}

func newMetrics(r *prometheus.Registry) *metrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		v := prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "prejoin", Subsystem: "queryd", Name: name, Help: help}, labels)
		r.MustRegister(v)
		return v
	}
	histogram := func(name, help string, labels ...string) *prometheus.HistogramVec {
		v := prometheus.NewHistogramVec(prometheus.HistogramOpts{Namespace: "prejoin", Subsystem: "queryd", Name: name, Help: help,
			Buckets: prometheus.ExponentialBuckets(0.0005, 3, 13)}, labels)
		r.MustRegister(v)
		return v
	}
	running := prometheus.NewGauge(prometheus.GaugeOpts{Namespace: "prejoin", Subsystem: "queryd", Name: "exports_running", Help: "Exports that are being sent."})
	r.MustRegister(running)
	return &metrics{
		requests: counter("requests_total", "Requests by route and status (499: the client left or the export was cut).", "route", "status"),
		seconds:  histogram("request_seconds", "Time from a request's header to the end of its answer.", "route"),
		exports:  counter("exports_total", "Exports by format and outcome: complete, refused (a problem was answered) or cut.", "format", "outcome"),
		running:  running,
		rows:     counter("export_rows_total", "Documents in exports.", "format"),
		bytes:    counter("export_bytes_total", "Bytes of exports handed to the network.", "format"),
		sections: histogram("export_section_seconds", "Where an export's time went.", "format", "section"),
	}
}

func (m *metrics) request(route string, status int, d time.Duration) {
	m.requests.WithLabelValues(route, strconv.Itoa(status)).Inc()
	m.seconds.WithLabelValues(route).Observe(d.Seconds())
}

func (m *metrics) export(format string, r export.Result, err error) {
	outcome := "complete"
	switch {
	case err != nil && r.Started:
		outcome = "cut"
	case err != nil:
		outcome = "refused"
	}
	m.exports.WithLabelValues(format, outcome).Inc()
	m.rows.WithLabelValues(format).Add(float64(r.Rows))
	m.bytes.WithLabelValues(format).Add(float64(r.Bytes))
	for _, s := range sections(r.Sections) {
		m.sections.WithLabelValues(format, s.name).Observe(s.took.Seconds())
	}
}

type section struct {
	name string
	took time.Duration
}

func sections(s export.Sections) []section {
	return []section{{"find", s.Find}, {"digest", s.Digest}, {"wait", s.Wait}, {"encode", s.Encode}, {"write", s.Write}, {"flush", s.Flush}}
}
