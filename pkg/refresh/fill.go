package refresh

import (
	"context"
	"fmt"

	"go.mongodb.org/mongo-driver/bson"
)

// Fill is Refresh for a collection that is not served yet: it inserts, which costs MongoDB a quarter of a conditional upsert. An insert
// never replaces anything; ids that are already there, tombstones too, and ids
// without a row take the conditional path. So it is safe beside live changes as
// long as tombstones are kept (7 days).
func (r *Refresher) Fill(ctx context.Context, ids []string) (Result, error) {
	var res Result
	err := r.patiently(ctx, func(ctx context.Context) (err error) {
		res, err = r.fill(ctx, ids)
		return err
	})
	return res, err
}

func (r *Refresher) fill(ctx context.Context, ids []string) (Result, error) {
	snapshot, batch, err := r.Read(ctx, ids)
	if err != nil {
		return Result{}, err
	}
	var docs []bson.Raw
	var inserted, left []string
	for _, id := range ids {
		if doc := batch.Document(id); doc != nil {
			docs, inserted = append(docs, doc), append(inserted, id)
		} else {
			left = append(left, id)
		}
	}
	duplicates, err := r.target.Insert(ctx, r.Model().Collection(), docs)
	if err != nil {
		return Result{}, fmt.Errorf("filling in %d documents of shard %s: %w", len(docs), r.source.Name(), err)
	}
	for _, i := range duplicates {
		left = append(left, inserted[i])
	}
	res := Result{Snapshot: snapshot, Live: len(docs) - len(duplicates), Applied: len(docs) - len(duplicates)}
	r.metrics.count(r.source.Name(), r.Model().Name, res)
	if len(left) == 0 {
		return res, nil
	}
	rest, err := r.once(ctx, left)
	res.Live, res.Gone = res.Live+rest.Live, res.Gone+rest.Gone
	res.Applied, res.Superfluous = res.Applied+rest.Applied, res.Superfluous+rest.Superfluous
	return res, err
}
