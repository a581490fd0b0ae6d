package refresh

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/bsontype"
	"golang.org/x/sync/errgroup"

	"prejoin/pkg/mongodb"
)

// Lister lists documents; *mongodb.DB is one.
type Lister interface {
	Find(context.Context, mongodb.Find) (*mongodb.Cursor, error)
}

// Walker goes over every document of one model and shard: those that the
// shard's SQL knows and those that MongoDB has of the shard, so that a document
// whose row is gone is visited too.
type Walker struct {
	Refresher *Refresher
	Lister    Lister
	PageSize  int               // ids a page; default 1,000
	Workers   int               // pages at once; default 2
	Progress  func(visited int) // told after each page; may be nil; may be called concurrently
}

// Walk re-reads and writes every document.
func (w *Walker) Walk(ctx context.Context) error {
	return w.Each(ctx, func(ctx context.Context, ids []string) error {
		_, err := w.Refresher.Refresh(ctx, ids)
		return err
	})
}

// Each calls visit with the ids of one page after another, by up to Workers
// goroutines at once. Together the pages hold each id once.
func (w *Walker) Each(ctx context.Context, visit func(ctx context.Context, ids []string) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(max(w.Workers, 1))
	err := w.pages(ctx, func(ids []string) {
		group.Go(func() error {
			if err := visit(ctx, ids); err != nil {
				return err
			}
			if w.Progress != nil {
				w.Progress(len(ids))
			}
			return nil
		})
	})
	if groupErr := group.Wait(); groupErr != nil {
		return groupErr
	}
	return err
}

// pages cuts the ids into ranges by the shard's order, and adds to each range
// what only MongoDB has there.
func (w *Walker) pages(ctx context.Context, emit func(ids []string)) error {
	size := w.PageSize
	if size == 0 {
		size = 1000
	}
	for last := ""; ; {
		ids, err := w.Refresher.IDs(ctx, last, size)
		if err != nil {
			return err
		}
		end := len(ids) < size
		upTo := ""
		if !end {
			upTo = ids[len(ids)-1]
		}
		if err := w.emit(ctx, ids, last, upTo, size, emit); err != nil || end {
			return err
		}
		last = upTo
	}
}

// emit sends the shard's ids of a range and MongoDB's others in pages.
func (w *Walker) emit(ctx context.Context, ids []string, after, upTo string, size int, send func([]string)) error {
	stored, err := w.stored(ctx, after, upTo)
	if err != nil {
		return err
	}
	known := make(map[string]bool, len(ids))
	for _, id := range ids {
		known[id] = true
	}
	extra := slices.DeleteFunc(stored, func(id string) bool { return known[id] })
	for page := range slices.Chunk(append(ids, extra...), size) {
		send(page)
	}
	return nil
}

// stored lists the ids that MongoDB has of this shard, after and up to the
// given ones; "" is no limit.
func (w *Walker) stored(ctx context.Context, after, upTo string) ([]string, error) {
	filter, err := w.filter(after, upTo)
	if err != nil {
		return nil, err
	}
	var ids []string
	err = w.Refresher.patiently(ctx, func(ctx context.Context) error {
		ids = nil
		return w.list(ctx, filter, func(id string) { ids = append(ids, id) })
	})
	return ids, err
}

func (w *Walker) filter(after, upTo string) (bson.D, error) {
	between := bson.D{}
	for _, limit := range []struct{ op, id string }{{"$gt", after}, {"$lte", upTo}} {
		if limit.id == "" {
			continue
		}
		v, err := w.Refresher.ID(limit.id)
		if err != nil {
			return nil, err
		}
		between = append(between, bson.E{Key: limit.op, Value: v})
	}
	filter := bson.D{{Key: "_p.s", Value: w.Refresher.Shard()}, mongodb.Live}
	if len(between) > 0 {
		filter = append(filter, bson.E{Key: "_id", Value: between})
	}
	return filter, nil
}

func (w *Walker) list(ctx context.Context, filter bson.D, found func(id string)) error {
	cursor, err := w.Lister.Find(ctx, mongodb.Find{Collection: w.Refresher.Model().Collection(), Filter: filter,
		Sort: bson.D{{Key: "_id", Value: 1}}, Projection: bson.D{{Key: "_id", Value: 1}}})
	if err != nil {
		return err
	}
	return each(ctx, cursor, func(doc bson.Raw) error {
		id, err := IDText(doc.Lookup("_id"))
		if err == nil {
			found(id)
		}
		return err
	})
}

// IDText is the text form, as PostgreSQL writes it, of a document's _id.
func IDText(v bson.RawValue) (string, error) {
	switch v.Type {
	case bsontype.Int64:
		return strconv.FormatInt(v.Int64(), 10), nil
	case bsontype.Int32:
		return strconv.FormatInt(int64(v.Int32()), 10), nil
	case bsontype.String:
		return v.StringValue(), nil
	}
	return "", fmt.Errorf("a document has an _id of BSON type %s, which no model writes: remove it, or use a database of its own for Prejoin", v.Type)
}

// each calls f with every document of the cursor, and closes it.
func each(ctx context.Context, cursor *mongodb.Cursor, f func(bson.Raw) error) error {
	defer cursor.Close()
	for {
		batch, err := cursor.Next(ctx)
		if err == io.EOF { //nolint:errorlint // a lost connection wraps io.EOF and is not the end
			return nil
		}
		if err != nil {
			return err
		}
		for _, doc := range batch {
			if err := f(doc); err != nil {
				return err
			}
		}
	}
}
