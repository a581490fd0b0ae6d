package plan

import (
	"context"
	"fmt"

	"prejoin/pkg/postgres"
	"prejoin/pkg/readmodel"
)

// Inspector answers for one shard; *postgres.Shard is one.
type Inspector interface {
	Inspect(ctx context.Context, publication string, statements, tables []string) (*postgres.Inspection, error)
}

// Check asks every shard about the model. The error is what kept a question
// from being asked; what is wrong with the model is in the report.
func Check(ctx context.Context, m *readmodel.Model, publication string, shards []Inspector) (*Report, error) {
	r := newReport(m)
	statements := statementsOf(m)
	texts := make([]string, len(statements))
	for i, st := range statements {
		texts[i] = st.sql
	}
	for _, shard := range shards {
		facts, err := shard.Inspect(ctx, publication, texts, tablesOf(m))
		if err != nil {
			return nil, fmt.Errorf("planning model %s: %w", m.Name, err)
		}
		r.Shards = append(r.Shards, judge(m, publication, statements, facts))
	}
	return r, nil
}

// part is one SQL text of a model by its place in the file.
type part struct {
	name, sql string
	child     int // index, or -1
	route     int // index, or -1
}

func statementsOf(m *readmodel.Model) []part {
	list := []part{{"root", m.Root, -1, -1}, {"ids", m.IDs, -1, -1}}
	for i, c := range m.Children {
		list = append(list, part{fmt.Sprintf("children[%d].query", i), c.Query, i, -1})
	}
	for i, r := range m.Routes {
		if r.Lookup != "" {
			list = append(list, part{fmt.Sprintf("routes[%d].lookup", i), r.Lookup, -1, i})
		}
	}
	return list
}

func tablesOf(m *readmodel.Model) []string {
	list := append([]string(nil), m.Static...)
	for _, r := range m.Routes {
		list = append(list, r.Table)
	}
	return list
}
