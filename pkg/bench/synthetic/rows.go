package synthetic

import (
	"context"
	"io"

	"go.mongodb.org/mongo-driver/bson"
)

// Rows hands out documents in batches, as a cursor does.
type Rows struct {
	docs  []bson.Raw
	batch int
}

// NewRows returns a cursor over docs with that batch size.
func NewRows(docs []bson.Raw, batch int) *Rows { return &Rows{docs, batch} }

// Next returns the next batch, or io.EOF after the last.
func (r *Rows) Next(ctx context.Context) ([]bson.Raw, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(r.docs) == 0 {
		return nil, io.EOF
	}
	n := min(r.batch, len(r.docs))
	batch := r.docs[:n]
	r.docs = r.docs[n:]
	return batch, nil
}
