package httpapi

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus"

	"prejoin/pkg/access"
	"prejoin/pkg/mongodb"
	"prejoin/pkg/query"
	"prejoin/pkg/readmodel"
)

// Finder runs finds: a database, or one instant of it.
type Finder interface {
	Find(ctx context.Context, f mongodb.Find) (*mongodb.Cursor, error)
}

// Store is what the API reads from.
type Store interface {
	Finder
	Snapshot(ctx context.Context) (*mongodb.Snapshot, error)
	Model(ctx context.Context, name string) (*mongodb.ModelRecord, error)
	// Missing names what a collection lacks to serve a model: itself, or indexes.
	Missing(ctx context.Context, m *readmodel.Model, collection string) ([]string, error)
}

// Config says what is served and within which limits.
type Config struct {
	Models   []*readmodel.Model
	Tokens   *query.Tokens        // signs page tokens
	Zone     *time.Location       // where a request has no tz; nil: UTC
	Logger   *slog.Logger         // nil: none
	Registry *prometheus.Registry // nil: a new one

	PageTime      time.Duration // the server's work on one page; 0: 5 s
	ExportTime    time.Duration // the server's work on one export, without waits; 0: 10 min
	Patience      time.Duration // how long a client may take no byte; 0: 30 s
	Requests      int           // at once, exports among them; 0: 128
	Exports       int           // at once; 0: 8
	ExportsPerKey int           // at once for one key; 0: 2
	Refresh       time.Duration // how often the served collections are looked up; 0: 3 s
}

func (c Config) defaults() Config {
	c.PageTime = orDuration(c.PageTime, 5*time.Second)
	c.ExportTime = orDuration(c.ExportTime, 10*time.Minute)
	c.Patience = orDuration(c.Patience, 30*time.Second)
	c.Refresh = orDuration(c.Refresh, 3*time.Second)
	if c.Requests <= 0 {
		c.Requests = 128
	}
	if c.Exports <= 0 {
		c.Exports = 8
	}
	if c.ExportsPerKey <= 0 {
		c.ExportsPerKey = 2
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Registry == nil {
		c.Registry = prometheus.NewRegistry()
	}
	return c
}

func orDuration(d, otherwise time.Duration) time.Duration {
	if d <= 0 {
		return otherwise
	}
	return d
}

// API serves the models. Run must be called for it to follow the served collections.
type API struct {
	cfg     Config
	store   Store
	auth    *access.Authenticator
	catalog *catalog
	places  chan struct{} // one for each request that runs
	gate    *gate
	metrics *metrics
	log     *slog.Logger
	echo    *echo.Echo

	answerTime time.Duration // tests shorten it
}

// New checks the configuration and looks the served collections up. It refuses
// a model file of another version or shape than what is served.
func New(ctx context.Context, cfg Config, store Store, auth *access.Authenticator) (*API, error) {
	cfg = cfg.defaults()
	if len(cfg.Models) == 0 || cfg.Tokens == nil {
		return nil, errors.New("making the API: it needs a model and a key for page tokens")
	}
	a := &API{cfg: cfg, store: store, auth: auth, log: cfg.Logger,
		places: make(chan struct{}, cfg.Requests), gate: newGate(cfg.Exports, cfg.ExportsPerKey),
		metrics: newMetrics(cfg.Registry), answerTime: answerTime}
	a.catalog = newCatalog(cfg.Models, store, cfg.Logger)
	if err := a.catalog.load(ctx); err != nil {
		return nil, err
	}
	a.echo = a.routes()
	return a, nil
}

// Run follows the served collections until the context ends.
func (a *API) Run(ctx context.Context) error { return a.catalog.follow(ctx, a.cfg.Refresh) }

// Ready is a readiness check: nil when at least one model is served.
func (a *API) Ready(context.Context) error { return a.catalog.ready() }

// ServeHTTP serves one request.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) { a.echo.ServeHTTP(w, r) }

func (a *API) routes() *echo.Echo {
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.HTTPErrorHandler = a.answer
	e.Use(a.identify, a.observe, a.recover, a.admit, a.limits)
	get := func(path string, h echo.HandlerFunc) {
		e.Match([]string{http.MethodGet, http.MethodHead}, path, h, a.authenticate)
	}
	get("/v1", a.models)
	get("/v1/:model", a.page)
	get("/v1/:model/:id", a.get)
	for _, format := range formats {
		get("/v1/:model/export."+format.name, a.export(format))
	}
	return e
}

// Server is an http.Server for the API with the limits that a handler cannot
// set. There is no ReadTimeout: it would cancel a long export, since net/http
// keeps that deadline while it waits for the client to leave.
func (a *API) Server() *http.Server {
	return &http.Server{
		Handler:           a,
		ReadHeaderTimeout: 5 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    32 << 10,
		ErrorLog:          slog.NewLogLogger(a.log.Handler(), slog.LevelDebug),
	}
}
