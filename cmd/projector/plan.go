package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"prejoin/pkg/plan"
	"prejoin/pkg/postgres"
	"prejoin/pkg/readmodel"
)

// PlanCmd shows what the models mean on the shards. It changes nothing and
// needs neither Kafka nor MongoDB.
type PlanCmd struct {
	JSON bool `name:"json" help:"Print the reports as JSON, one array."`
}

// errRefused ends a plan that found what would make documents wrong.
var errRefused = errors.New("a model cannot run on these shards: do what stands after ▶ at each REFUSED, then plan again")

// Run plans every model on every shard.
func (c *PlanCmd) Run(ctx context.Context, env *Env) error {
	models, err := readmodel.LoadAll(env.Model...)
	if err != nil {
		return err
	}
	shards, closeAll, err := inspectors(ctx, env)
	if err != nil {
		return err
	}
	defer closeAll()
	reports, err := plans(ctx, models, env.Publication, shards)
	if err != nil {
		return err
	}
	if err := c.print(env, reports); err != nil {
		return fmt.Errorf("printing the plan: %w", err)
	}
	return refusal(reports)
}

// plans asks every shard about every model.
func plans(ctx context.Context, models []*readmodel.Model, publication string, shards []plan.Inspector) ([]*plan.Report, error) {
	reports := []*plan.Report{}
	for _, m := range models {
		r, err := plan.Check(ctx, m, publication, shards)
		if err != nil {
			return nil, err
		}
		reports = append(reports, r)
	}
	return reports, nil
}

func refusal(reports []*plan.Report) error {
	if slices.ContainsFunc(reports, (*plan.Report).Refused) {
		return errRefused
	}
	return nil
}

func (c *PlanCmd) print(env *Env, reports []*plan.Report) error {
	if c.JSON {
		e := json.NewEncoder(env.Stdout)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		return e.Encode(reports)
	}
	for i, r := range reports {
		if i > 0 {
			fmt.Fprintln(env.Stdout)
		}
		if err := r.Print(env.Stdout); err != nil {
			return err
		}
	}
	return nil
}

// inspectors connects to every configured shard.
func inspectors(ctx context.Context, env *Env) ([]plan.Inspector, func(), error) {
	configs, err := env.Shards()
	if err != nil {
		return nil, nil, err
	}
	var opened []*postgres.Shard
	closeAll := func() {
		for _, s := range opened {
			s.Close()
		}
	}
	var list []plan.Inspector
	for _, cfg := range configs {
		s, err := postgres.Open(ctx, postgres.Config{Name: cfg.Name, DSN: cfg.DSN, MaxConns: 1, AppName: "projector plan"})
		if err != nil {
			closeAll()
			return nil, nil, err
		}
		opened = append(opened, s)
		list = append(list, s)
	}
	return list, closeAll, nil
}
