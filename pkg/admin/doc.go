// Package admin serves a daemon's operators: /livez, /readyz and /metrics, and
// /debug/pprof only when asked for. In flow named readiness checks and a
// Prometheus registry of the daemon's own; out flow HTTP answers.
//
// It promises to listen on loopback unless a host is given, to bound each
// check and each request in time, and to end with its context.
package admin
