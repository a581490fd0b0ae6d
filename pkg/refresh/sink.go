package refresh

import (
	"strings"

	"prejoin/pkg/document"
	"prejoin/pkg/postgres"
)

// admission checks a read's snapshot before its rows are taken.
type admission struct {
	guard    *Guard
	before   int64 // the highest rank when the read began
	snapshot postgres.Snapshot
}

func (r *Refresher) admission() admission {
	return admission{guard: r.guard, before: r.guard.Highest()}
}

func (a *admission) Begin(s postgres.Snapshot) error {
	a.snapshot = s
	return a.guard.Admit(s, a.before)
}

// documents is the sink of a read of documents.
type documents struct {
	admission
	batch *document.Batch
}

func (d *documents) Begin(s postgres.Snapshot) error {
	if err := d.admission.Begin(s); err != nil {
		return err
	}
	d.batch.Begin(document.Stamp{Epoch: d.guard.Epoch(), Rank: s.Rank(), Shard: d.guard.shard, At: s.At})
	return nil
}

func (d *documents) Columns(query int, columns []postgres.Column) error {
	described := make([]document.Column, len(columns))
	for i, c := range columns {
		described[i] = document.Column(c)
	}
	return d.batch.Columns(query, described)
}

func (d *documents) Row(query int, values [][]byte) error { return d.batch.Row(query, values) }

// idList is the sink of a lookup: one column of ids.
type idList struct {
	admission
	ids []string
}

func (l *idList) Columns(int, []postgres.Column) error { return nil }

func (l *idList) Row(_ int, values [][]byte) error {
	if values[0] != nil {
		l.ids = append(l.ids, string(values[0]))
	}
	return nil
}

var quoting = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

// array writes PostgreSQL's array literal of the values.
func array(values []string) []byte {
	var b strings.Builder
	b.WriteByte('{')
	for i, v := range values {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('"')
		b.WriteString(quoting.Replace(v))
		b.WriteByte('"')
	}
	b.WriteByte('}')
	return []byte(b.String())
}
