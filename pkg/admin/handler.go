package admin

import (
	"fmt"
	"io"
	"net/http"
	"net/http/pprof"
	"strings"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", livez)
	mux.HandleFunc("GET /readyz", s.readyz)
	mux.Handle("GET /metrics", promhttp.HandlerFor(s.cfg.Registry, promhttp.HandlerOpts{
		Registry: s.cfg.Registry, MaxRequestsInFlight: 4,
	}))
	if s.cfg.Pprof {
		mux.HandleFunc("/debug/pprof/", pprof.Index)
		mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
		mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
		mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
		mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	}
	return mux
}

// livez says that the process runs and answers; it checks nothing else, so
// that an outage of a server does not have the daemon restarted.
func livez(w http.ResponseWriter, _ *http.Request) {
	plain(w, http.StatusOK, "ok\n")
}

// readyz answers one line a check, 503 when one fails.
func (s *Server) readyz(w http.ResponseWriter, r *http.Request) {
	status, text := http.StatusOK, new(strings.Builder)
	for _, result := range s.ready.run(r.Context(), s.cfg.Timeout) {
		if result.err != nil {
			status = http.StatusServiceUnavailable
			fmt.Fprintf(text, "%s: %s\n", result.name, strings.ReplaceAll(result.err.Error(), "\n", " "))
			continue
		}
		fmt.Fprintf(text, "%s: ok\n", result.name)
	}
	if text.Len() == 0 {
		text.WriteString("ok\n")
	}
	plain(w, status, text.String())
}

func plain(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text)
}
