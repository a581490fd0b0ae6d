package plan

import "prejoin/pkg/readmodel"

// Report is what a model means.
type Report struct {
	Model      string   `json:"model"`
	Version    int      `json:"version"`
	Collection string   `json:"collection"`
	Shape      string   `json:"shape"`
	Indexes    []string `json:"indexes"` // in MongoDB, one an access pattern
	Shards     []Shard  `json:"shards"`
}

// Shard is the model on one shard.
type Shard struct {
	Name       string      `json:"name"`
	Version    string      `json:"version"` // of PostgreSQL
	Topics     []string    `json:"topics"`
	Statements []Statement `json:"statements"`
	Tables     []Table     `json:"tables"`
	Findings   []Finding   `json:"findings"`
}

// Statement is one SQL text and what the planner says of it.
type Statement struct {
	Name   string   `json:"name"` // as in the model file: root, children[0].query
	Reads  []string `json:"reads"`
	Cost   float64  `json:"cost"`
	Rows   float64  `json:"rows"`
	Params []string `json:"params"`
}

// Table is a relation that the model reads or routes.
type Table struct {
	Name     string   `json:"name"`
	Kind     string   `json:"kind"`
	Use      string   `json:"use"`                // routed, static, view, partition, unknown
	Bytes    int64    `json:"bytes"`              // of its rows, without indexes
	Identity string   `json:"identity,omitempty"` // the replica identity and its columns
	Needs    []string `json:"needs,omitempty"`    // the columns that routes use
}

// Severity tells whether a model may run in spite of a finding.
type Severity string

// The severities.
const (
	Refused Severity = "refused" // documents would be wrong or incomplete
	Warning Severity = "warning" // slow or brittle
)

// Finding is one thing that is wrong, where, and what to do.
type Finding struct {
	Severity Severity `json:"severity"`
	Where    string   `json:"where"`   // a statement, table, field or publication
	Problem  string   `json:"problem"` // one sentence
	Fix      string   `json:"fix"`     // a statement to run, or what to write
}

// Refused tells whether any finding forbids the model to run.
func (r *Report) Refused() bool {
	for _, s := range r.Shards {
		for _, f := range s.Findings {
			if f.Severity == Refused {
				return true
			}
		}
	}
	return false
}

func newReport(m *readmodel.Model) *Report {
	r := &Report{Model: m.Name, Version: m.Version, Collection: m.Collection(), Shape: m.Shape}
	for _, a := range m.Access {
		r.Indexes = append(r.Indexes, index(m, a))
	}
	return r
}

func index(m *readmodel.Model, a readmodel.Access) string {
	text := ""
	for i, k := range m.Index(a) {
		if i > 0 {
			text += ", "
		}
		text += k.String()
	}
	return text
}
