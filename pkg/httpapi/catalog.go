package httpapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"prejoin/pkg/mongodb"
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
}

func newCatalog(models []*readmodel.Model, store Store, log *slog.Logger) *catalog {
	return &catalog{models: models, store: store, log: log, served: map[string]served{}}
}

// load looks all models up at start. A model that is not there yet is served
// later; one that differs from its file is an error.
func (c *catalog) load(ctx context.Context) error {
	for _, m := range c.models {
		s, err := c.look(ctx, m)
		if err != nil {
			return err
		}
		if s.collection == "" && s.why != notYet {
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
		return served{model: m, why: notYet}, nil
	case err != nil:
		return served{}, fmt.Errorf("looking up where model %s is served: %w", m.Name, err)
	case r.Version != m.Version:
		return served{model: m, why: fmt.Sprintf("version %d is served, but queryd's file is version %d; start queryd with the file that was rebuilt", r.Version, m.Version)}, nil
	case r.Shape != m.Shape:
		return served{model: m, why: fmt.Sprintf("queryd's file of version %d has other SQL or fields than what is served; give both daemons the same file", m.Version)}, nil
	}
	if r.Served == "" {
		return served{model: m, why: notYet}, nil
	}
	return served{model: m, collection: r.Served}, nil
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
	for _, m := range c.models {
		if c.get(m.Name).collection != "" {
			return nil
		}
	}
	return errors.New("no model is served yet; run projector backfill")
}

// open is the model of a request, or a problem.
func (c *catalog) open(name string) (served, error) {
	s := c.get(name)
	switch {
	case s.model == nil:
		return s, problem(http.StatusNotFound, "unknown-model", "Unknown model", "There is no model of that name; GET /v1 lists the models.")
	case s.collection == "":
		return s, problem(http.StatusServiceUnavailable, "model-unavailable", "The model is not served now", "The model %s cannot be read: %s.", name, s.why)
	}
	return s, nil
}
