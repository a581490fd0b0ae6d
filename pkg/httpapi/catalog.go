package httpapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"prejoin/pkg/mongodb"
	"prejoin/pkg/query"
	"prejoin/pkg/readmodel"
)

// catalog knows which collection serves each model.
type catalog struct {
	models []*readmodel.Model
	store  Store
	log    *slog.Logger

	mu     sync.RWMutex
	served map[string]served
}

// served is a model and where it is read. Why says why it cannot be, if so.
type served struct {
	model      *readmodel.Model
	collection string
	why        string
	later      bool // it may come without a restart of queryd
}

func newCatalog(models []*readmodel.Model, store Store, log *slog.Logger) *catalog {
	return &catalog{models: models, store: store, log: log, served: map[string]served{}}
}

// load looks all models up at start. A model that is not there yet, or not
// whole, is served later; one that differs from its file is an error.
func (c *catalog) load(ctx context.Context) error {
	for _, m := range c.models {
		s, err := c.look(ctx, m)
		if err != nil {
			return err
		}
		if s.collection == "" && !s.later {
			return fmt.Errorf("serving model %s: %s", m.Name, s.why)
		}
		c.set(s)
	}
	return nil
}

const notYet = "its documents are not filled in yet; let projector backfill run to its end"

// look reads one model's record and compares it with the file.
func (c *catalog) look(ctx context.Context, m *readmodel.Model) (served, error) {
	r, err := c.store.Model(ctx, m.Name)
	switch {
	case errors.Is(err, mongodb.ErrNotFound):
		return served{model: m, why: notYet, later: true}, nil
	case err != nil:
		return served{}, fmt.Errorf("looking up where model %s is served: %w", m.Name, err)
	case r.Version != m.Version:
		return served{model: m, why: fmt.Sprintf("version %d is served, but queryd's file is version %d; start queryd with the file that was rebuilt", r.Version, m.Version)}, nil
	case r.Shape != m.Shape:
		return served{model: m, why: fmt.Sprintf("queryd's file of version %d has other SQL or fields than what is served; give both daemons the same file", m.Version)}, nil
	}
	if r.Served == "" {
		return served{model: m, why: notYet, later: true}, nil
	}
	missing, err := c.store.Missing(ctx, m, r.Served)
	if err != nil {
		return served{}, fmt.Errorf("looking at the indexes of model %s: %w", m.Name, err)
	}
	if len(missing) > 0 {
		return served{model: m, why: incomplete(missing), later: true}, nil
	}
	return served{model: m, collection: r.Served}, nil
}

// incomplete says that a find would have no index, or nothing to read, which
// would look like no rows.
func incomplete(missing []string) string {
	return strings.Join(missing, ", ") + " is missing; start the projector with queryd's model file, or run projector backfill"
}

// follow looks the models up again and again. While MongoDB does not answer,
// what was known last stays.
func (c *catalog) follow(ctx context.Context, every time.Duration) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			c.refresh(ctx)
		}
	}
}

func (c *catalog) refresh(ctx context.Context) {
	for _, m := range c.models {
		s, err := c.look(ctx, m)
		if err != nil {
			c.log.Debug("served collection unknown for now", "model", m.Name, "error", err)
			continue
		}
		if old := c.get(m.Name); old.collection != s.collection || old.why != s.why {
			c.log.Info("served collection changed", "model", m.Name, "collection", s.collection, "why", s.why)
		}
		c.set(s)
	}
}

func (c *catalog) set(s served) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.served[s.model.Name] = s
}

func (c *catalog) get(name string) served {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.served[name]
}

func (c *catalog) ready() error {
	var reasons []string
	for _, m := range c.models {
		s := c.get(m.Name)
		if s.collection != "" {
			return nil
		}
		reasons = append(reasons, m.Name+": "+s.why)
	}
	return errors.New("no model is served: " + strings.Join(reasons, "; "))
}

// open is the model of a request, or a problem.
func (c *catalog) open(name string) (served, error) {
	s := c.get(name)
	switch {
	case s.model == nil:
		return s, problem(http.StatusNotFound, "unknown-model", "Unknown model", "There is no model of that name; GET /v1 lists the models.")
	case s.collection == "":
		return s, unserved(name, s.why)
	}
	return s, nil
}

func unserved(model, why string) *query.Problem {
	return problem(http.StatusServiceUnavailable, "model-unavailable", "The model is not served now", "The model %s cannot be read: %s.", model, why)
}
