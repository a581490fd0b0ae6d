package admin_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	"prejoin/pkg/admin"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func start(t *testing.T, cfg admin.Config) *admin.Server {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	server, err := admin.Listen(ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- server.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
		http.DefaultClient.CloseIdleConnections()
	})
	return server
}

func get(t *testing.T, server *admin.Server, path string) (int, string) {
	t.Helper()
	answer, err := http.Get("http://" + server.Addr() + path)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(body)
}

func TestReadyNamesEachCheck(t *testing.T) {
	server := start(t, admin.Config{Timeout: 50 * time.Millisecond})
	expect := func(status int, body string) {
		t.Helper()
		if s, b := get(t, server, "/readyz"); s != status || b != body {
			t.Errorf("readyz: %d %q, want %d %q", s, b, status, body)
		}
	}
	expect(200, "ok\n")
	server.AddCheck("mongodb", func(context.Context) error { return nil })
	expect(200, "mongodb: ok\n")
	server.AddCheck("kafka", func(context.Context) error { return errors.New("no broker\nanswers") })
	expect(503, "mongodb: ok\nkafka: no broker answers\n")
	server.AddCheck("shard0", func(ctx context.Context) error { <-ctx.Done(); return errors.New("gave up") })
	release := make(chan struct{})
	server.AddCheck("deaf", func(context.Context) error { <-release; return nil })
	defer close(release)
	expect(503, "mongodb: ok\nkafka: no broker answers\nshard0: gave up\ndeaf: no answer within 50ms\n")
	if s, b := get(t, server, "/livez"); s != 200 || b != "ok\n" {
		t.Errorf("livez: %d %q while not ready", s, b)
	}
}

func TestMetricsAreOfTheOwnRegistry(t *testing.T) {
	server := start(t, admin.Config{})
	counter := prometheus.NewCounter(prometheus.CounterOpts{Name: "prejoin_things_total", Help: "things"})
	server.Registry().MustRegister(counter)
	counter.Inc()
	if s, b := get(t, server, "/metrics"); s != 200 || !strings.Contains(b, "prejoin_things_total 1") || !strings.Contains(b, "go_goroutines") {
		t.Errorf("metrics: %d %.300q", s, b)
	}
}

func TestPprofOnlyWhenAsked(t *testing.T) {
	if s, _ := get(t, start(t, admin.Config{}), "/debug/pprof/"); s != 404 {
		t.Errorf("pprof unasked: %d, want 404", s)
	}
	if s, _ := get(t, start(t, admin.Config{Pprof: true}), "/debug/pprof/"); s != 200 {
		t.Errorf("pprof asked for: %d, want 200", s)
	}
}

func TestListensOnLoopbackByDefault(t *testing.T) {
	for _, addr := range []string{"", ":0", "127.0.0.1:0"} {
		host, _, _ := net.SplitHostPort(start(t, admin.Config{Addr: addr}).Addr())
		if host != "127.0.0.1" {
			t.Errorf("Addr %q listens on %s", addr, host)
		}
	}
}

func TestBadAddressesSayWhatToDo(t *testing.T) {
	taken := start(t, admin.Config{})
	for addr, want := range map[string]string{"nowhere": "host:port", taken.Addr(): "free address"} {
		if _, err := admin.Listen(t.Context(), admin.Config{Addr: addr}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Listen(%q): %v, want an error that mentions %q", addr, err, want)
		}
	}
}
