package admin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// Config says where to listen and what to show.
type Config struct {
	// Addr is host:port. Without a host it is loopback; port 0 takes a free
	// one. "": 127.0.0.1:0.
	Addr     string
	Pprof    bool                 // serve /debug/pprof; default off
	Registry *prometheus.Registry // nil: NewRegistry()
	Logger   *slog.Logger         // nil: slog's default
	Timeout  time.Duration        // for all readiness checks of one request; 0: 2 s
}

// Server is a bound admin server. Its checks may be added while it runs.
type Server struct {
	cfg      Config
	listener net.Listener
	ready    readiness
}

// NewRegistry is an empty registry with the Go runtime's and process's metrics.
func NewRegistry() *prometheus.Registry {
	reg := prometheus.NewRegistry()
	reg.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return reg
}

// Listen binds the address, so that Addr is known before Run serves it.
func Listen(ctx context.Context, cfg Config) (*Server, error) {
	if cfg.Registry == nil {
		cfg.Registry = NewRegistry()
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	if cfg.Timeout <= 0 {
		cfg.Timeout = 2 * time.Second
	}
	addr, err := loopback(cfg.Addr)
	if err != nil {
		return nil, err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listening for admin requests on %s: %w; choose a free address (port 0 takes any)", addr, err)
	}
	return &Server{cfg: cfg, listener: listener}, nil
}

func loopback(addr string) (string, error) {
	if addr == "" {
		return "127.0.0.1:0", nil
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return "", fmt.Errorf("admin address %q: %w; write host:port, such as 127.0.0.1:9090", addr, err)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port), nil
}

// Addr is the address that the server is bound to, with the port chosen.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// Registry is where the daemon registers its metrics.
func (s *Server) Registry() *prometheus.Registry { return s.cfg.Registry }

// Run serves until the context ends and then returns nil.
func (s *Server) Run(ctx context.Context) error {
	server := &http.Server{
		Handler:           s.handler(),
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          slog.NewLogLogger(s.cfg.Logger.Handler(), slog.LevelDebug),
	}
	stopped := make(chan struct{})
	stop := context.AfterFunc(ctx, func() { defer close(stopped); shutdown(ctx, server) })
	err := server.Serve(s.listener)
	if !stop() {
		<-stopped
	}
	if err != nil && !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving admin requests on %s: %w", s.Addr(), err)
	}
	return nil
}

func shutdown(ctx context.Context, server *http.Server) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if server.Shutdown(ctx) != nil {
		_ = server.Close() // a profile or a slow scraper is cut off
	}
}

// Close frees the address of a server that was never run.
func (s *Server) Close() error { return s.listener.Close() }
