package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"prejoin/pkg/admin"
	"prejoin/pkg/mongodb"
	"prejoin/pkg/plan"
	"prejoin/pkg/postgres"
	"prejoin/pkg/readmodel"
	"prejoin/pkg/refresh"
)

// house is what the subcommands that touch documents have in common: the
// models, MongoDB, and each shard under the guard of its epoch.
type house struct {
	env        *Env
	registry   *prometheus.Registry
	models     []*readmodel.Model
	db         *mongodb.DB
	shards     []*postgres.Shard
	guards     []*refresh.Guard // by shard
	refreshers []*refresh.Refresher
}

// openHouse connects to everything and fails with one sentence where it cannot.
// A consent other than ReadOnly makes the collections and indexes too.
func openHouse(ctx context.Context, env *Env, consent refresh.Consent) (*house, error) {
	h := &house{env: env, registry: admin.NewRegistry()}
	if err := h.open(ctx, consent); err != nil {
		h.close()
		return nil, err
	}
	return h, nil
}

func (h *house) open(ctx context.Context, consent refresh.Consent) (err error) {
	if h.models, err = readmodel.LoadAll(h.env.Model...); err != nil {
		return err
	}
	if h.env.MongodbURI == "" {
		return errors.New("no MongoDB is configured: give --mongodb-uri, or set MONGODB_URI")
	}
	if h.db, err = mongodb.Open(ctx, mongodb.Config{URI: h.env.MongodbURI, Database: h.env.MongodbDb, AppName: "projector"}); err != nil {
		return err
	}
	if consent != refresh.ReadOnly {
		for _, m := range h.models {
			if err := h.db.Prepare(ctx, m); err != nil {
				return err
			}
		}
	}
	return h.openShards(ctx, consent)
}

func (h *house) openShards(ctx context.Context, consent refresh.Consent) error {
	shards, err := h.env.Shards()
	if err != nil {
		return err
	}
	for _, cfg := range shards {
		shard, err := postgres.Open(ctx, postgres.Config{Name: cfg.Name, DSN: cfg.DSN, MaxConns: int32(3*len(h.models)) + 2, AppName: "projector"}) //nolint:gosec // a few models
		if err != nil {
			return err
		}
		h.shards = append(h.shards, shard)
	}
	if err := h.plan(ctx, consent); err != nil {
		return err
	}
	return h.enlist(ctx, consent)
}

// plan refuses a model that would lose changes on a shard: an unpublished table,
// a replica identity without a route's column.
func (h *house) plan(ctx context.Context, consent refresh.Consent) error {
	if consent == refresh.ReadOnly {
		return nil
	}
	var inspectors []plan.Inspector
	for _, s := range h.shards {
		inspectors = append(inspectors, s)
	}
	reports, err := plans(ctx, h.models, h.env.Publication, inspectors)
	if err != nil {
		return err
	}
	for _, r := range reports {
		if r.Refused() {
			if err := r.Print(h.env.Stderr); err != nil {
				return err
			}
		}
	}
	return refusal(reports)
}

// enlist puts each shard under the guard of its epoch.
func (h *house) enlist(ctx context.Context, consent refresh.Consent) error {
	metrics := refresh.NewMetrics(h.registry)
	for _, shard := range h.shards {
		guard, err := refresh.Enlist(ctx, shard, h.db, consent)
		if err != nil {
			return err
		}
		h.guards = append(h.guards, guard)
		for _, m := range h.models {
			h.refreshers = append(h.refreshers, refresh.New(refresh.Config{Source: shard, Target: h.db, Guard: guard, Model: m, Metrics: metrics, Log: h.env.Log}))
		}
	}
	return nil
}

// walkers walk every shard and model.
func (h *house) walkers(workers int) []*refresh.Walker {
	list := make([]*refresh.Walker, len(h.refreshers))
	for i, r := range h.refreshers {
		list[i] = &refresh.Walker{Refresher: r, Lister: h.db, Workers: workers}
	}
	return list
}

// shardOf is the connection that a refresher reads.
func (h *house) shardOf(r *refresh.Refresher) *postgres.Shard {
	for _, s := range h.shards {
		if s.Name() == r.Shard() {
			return s
		}
	}
	panic(fmt.Sprintf("refresher of unknown shard %s", r.Shard()))
}

func (h *house) close() {
	for _, s := range h.shards {
		s.Close()
	}
	if h.db == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := h.db.Close(ctx); err != nil {
		h.env.Log.Warn("closing MongoDB", "error", err)
	}
}
