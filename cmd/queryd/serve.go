package main

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"prejoin/pkg/access"
	"prejoin/pkg/admin"
	"prejoin/pkg/httpapi"
	"prejoin/pkg/mongodb"
	"prejoin/pkg/query"
	"prejoin/pkg/readmodel"
	"prejoin/pkg/retry"
)

// ServeCmd serves the API.
type ServeCmd struct {
	Model         []string      `help:"Model files, or folders of them." env:"READMODELS" default:"readmodels" placeholder:"PATH"`
	Listen        string        `help:"Where the API listens, as HOST:PORT." env:"QUERYD_LISTEN" default:"127.0.0.1:8080" placeholder:"HOST:PORT"`
	AdminAddr     string        `help:"Where /livez, /readyz and /metrics listen." env:"QUERYD_ADMIN_ADDR" default:"127.0.0.1:8081" placeholder:"HOST:PORT"`
	PageKey       []string      `help:"Keys that sign page tokens: base64 of 32 bytes or more each; the first signs, all are accepted. Default: a random one, so that tokens end with the process and are good for one instance only." env:"QUERYD_PAGE_KEY" placeholder:"BASE64"`
	Tz            string        `name:"tz" help:"The time zone of plain dates and shown times where a request has no tz." env:"QUERYD_TZ" default:"UTC" placeholder:"ZONE"`
	Requests      int           `help:"Requests at once, exports among them; further ones get 503." env:"QUERYD_REQUESTS" default:"128"`
	Exports       int           `help:"Exports at once." env:"QUERYD_EXPORTS" default:"8"`
	ExportsPerKey int           `help:"Exports at once for one key." env:"QUERYD_EXPORTS_PER_KEY" default:"2"`
	Patience      time.Duration `help:"How long a client may take for 256 KiB of an export before it is cut (30s: 9 kB/s)." env:"QUERYD_PATIENCE" default:"30s"`
	Drain         time.Duration `help:"How long to go on serving after readiness is off, so that a balancer can notice." env:"QUERYD_DRAIN" default:"0s"`
	Stop          time.Duration `help:"How long running requests may take at the end before they are cut." env:"QUERYD_STOP" default:"10s"`
}

// Validate refuses limits that would be none; kong calls it after parsing.
func (c *ServeCmd) Validate() error {
	switch {
	case c.Requests < 1 || c.Requests > 10_000 || c.Exports < 1 || c.ExportsPerKey < 1:
		return errors.New("--requests, --exports and --exports-per-key are numbers of at least 1, --requests 10000 at most")
	case c.Exports >= c.Requests:
		return errors.New("--exports must stay below --requests, so that pages have room")
	case c.Patience < 100*time.Millisecond || c.Drain < 0 || c.Stop < 0:
		return errors.New("--patience is at least 100ms, --drain and --stop are not negative")
	}
	return nil
}

// Run serves until the context ends.
//
//	models ─▶ MongoDB ─▶ API ─▶ listen ─▶ ready ─▶ … ─▶ not ready ─▶ drain ─▶ shut down
func (c *ServeCmd) Run(ctx context.Context, env *Env) error {
	cfg, err := c.api(env)
	if err != nil {
		return err
	}
	db, done, err := env.Open(ctx)
	if err != nil {
		return err
	}
	defer done()
	adm, err := admin.Listen(ctx, admin.Config{Addr: c.AdminAddr, Logger: env.Log})
	if err != nil {
		return err
	}
	cfg.Registry = adm.Registry()
	api, err := httpapi.New(ctx, cfg, db, access.NewAuthenticator(keyStore{db}, 0))
	if err != nil {
		return errors.Join(err, adm.Close())
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", c.Listen)
	if err != nil {
		return errors.Join(fmt.Errorf("listening for requests on %s: %w; choose a free address with --listen", c.Listen, err), adm.Close())
	}
	fmt.Fprintf(env.Stdout, "queryd serves http://%s, admin http://%s\n", listener.Addr(), adm.Addr())
	return c.serve(ctx, env, db, api, adm, listener)
}

func (c *ServeCmd) api(env *Env) (httpapi.Config, error) {
	models, err := readmodel.LoadAll(c.Model...)
	if err != nil {
		return httpapi.Config{}, err
	}
	zone, err := query.Zone(c.Tz)
	if err != nil {
		return httpapi.Config{}, err
	}
	tokens, err := c.tokens(env)
	if err != nil {
		return httpapi.Config{}, err
	}
	return httpapi.Config{Models: models, Tokens: tokens, Zone: zone, Logger: env.Log,
		Requests: c.Requests, Exports: c.Exports, ExportsPerKey: c.ExportsPerKey, Patience: c.Patience}, nil
}

func (c *ServeCmd) tokens(env *Env) (*query.Tokens, error) {
	if len(c.PageKey) == 0 {
		env.Log.Info("page tokens end with this process; set QUERYD_PAGE_KEY to keep them")
		key := make([]byte, 32)
		_, _ = rand.Read(key) // never fails
		return query.NewTokens(key)
	}
	var keys [][]byte
	for i, text := range c.PageKey {
		key, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(strings.NewReplacer("-", "+", "_", "/").Replace(text), "="))
		if err != nil { // its text would show a part of the key
			return nil, fmt.Errorf("reading page key %d: it is not base64; make one with: openssl rand -base64 32", i+1)
		}
		keys = append(keys, key)
	}
	return query.NewTokens(keys...)
}

// serve runs the API and its admin server, which is the last to stop, so that
// readiness can be seen to end first.
func (c *ServeCmd) serve(ctx context.Context, env *Env, db *mongodb.DB, api *httpapi.API, adm *admin.Server, listener net.Listener) error {
	var stopping atomic.Bool
	adm.AddCheck("serving", func(context.Context) error {
		if stopping.Load() {
			return errors.New("stopping")
		}
		return nil
	})
	adm.AddCheck("mongodb", db.Ping)
	adm.AddCheck("models", api.Ready)
	server := api.Server()
	all, running := errgroup.WithContext(ctx)
	adminCtx, stopAdmin := context.WithCancel(context.WithoutCancel(ctx))
	all.Go(func() error { return api.Run(running) })
	all.Go(func() error { return adm.Run(adminCtx) })
	all.Go(func() error {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("serving requests: %w", err)
		}
		return nil
	})
	all.Go(func() error {
		<-running.Done()
		defer stopAdmin()
		stopping.Store(true)
		return c.shutdown(ctx, env, server)
	})
	return all.Wait()
}

// shutdown lets running requests end, then cuts those that do not: a client
// sees a broken transfer, never a short one that looks whole.
func (c *ServeCmd) shutdown(ctx context.Context, env *Env, server *http.Server) error {
	ctx = context.WithoutCancel(ctx)
	retry.Sleep(ctx, c.Drain)
	ctx, cancel := context.WithTimeout(ctx, c.Stop)
	defer cancel()
	if err := server.Shutdown(ctx); err != nil {
		env.Log.Warn("requests were cut at the end", "after", c.Stop)
		_ = server.Close() // says again what Shutdown said
	}
	env.Log.Info("queryd has stopped")
	return nil
}
