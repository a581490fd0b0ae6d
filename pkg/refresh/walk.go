package refresh

import (
	"bytes"
	"context"
	"fmt"
	"io"
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

// emit sends the shard's ids of a range, and MongoDB's others in pages.
func (w *Walker) emit(ctx context.Context, ids []string, after, upTo string, size int, send func([]string)) error {
	known := make(map[string]bool, len(ids))
	for _, id := range ids {
		known[id] = true
	}
	page := ids
	err := w.stored(ctx, after, upTo, func(id string) {
		if !known[id] {
			page = append(page, id)
		}
		if len(page) >= size+len(ids) {
			send(page)
			page = nil
		}
	})
	if err == nil && len(page) > 0 {
		send(page)
	}
	return err
}

// listSize is the number of documents that are listed at once. They are told
// apart here, not by the query: no index has the shard, and a query that looks
// for the few documents of one among many runs out of its time.
const listSize = 5000

// stored lists the living documents that MongoDB has of this shard, after and
// up to the given ids; "" is no limit.
func (w *Walker) stored(ctx context.Context, after, upTo string, found func(id string)) error {
	for more := true; more; {
		var ids []string
		err := w.Refresher.patiently(ctx, func(ctx context.Context) (err error) {
			ids = nil
			after, more, err = w.list(ctx, after, upTo, func(id string) { ids = append(ids, id) })
			return err
		})
		if err != nil {
			return err
		}
		for _, id := range ids {
			found(id)
		}
	}
	return nil
}

// list reads one page, and tells its last id and whether it was full. On an
// error the id is that it began after.
func (w *Walker) list(ctx context.Context, after, upTo string, found func(id string)) (last string, full bool, err error) {
	filter, err := w.between(after, upTo)
	if err != nil {
		return after, false, err
	}
	last, n := after, 0
	err = Scan(ctx, w.Lister, mongodb.Find{Collection: w.Refresher.Model().Collection(), Filter: filter, Limit: listSize, Primary: true}, func(l Listed) {
		last = l.Text
		n++
		if l.Shard == w.Refresher.Shard() && !l.Gone {
			found(l.Text)
		}
	})
	if err != nil {
		return after, false, err
	}
	return last, n == listSize, nil
}

func (w *Walker) between(after, upTo string) (bson.D, error) {
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
	if len(between) == 0 {
		return bson.D{}, nil
	}
	return bson.D{{Key: "_id", Value: between}}, nil
}

// Listed is what a listing says of one document.
type Listed struct {
	ID    bson.RawValue
	Text  string // the id as PostgreSQL writes it
	Shard string // that wrote it
	Gone  bool   // a tombstone
}

// Scan lists documents by _id with their shards; f's Sort and Projection are set here.
func Scan(ctx context.Context, lister Lister, f mongodb.Find, found func(Listed)) error {
	f.Sort = bson.D{{Key: "_id", Value: 1}}
	f.Projection = bson.D{{Key: "_p.s", Value: 1}, {Key: "_p.del", Value: 1}}
	cursor, err := lister.Find(ctx, f)
	if err != nil {
		return err
	}
	return EachDocument(ctx, cursor, func(doc bson.Raw) error {
		id := doc.Lookup("_id")
		text, err := IDText(id)
		if err != nil {
			return err
		}
		shard, _ := doc.Lookup("_p", "s").StringValueOK()
		_, gone := doc.Lookup("_p", "del").DateTimeOK()
		found(Listed{ID: bson.RawValue{Type: id.Type, Value: bytes.Clone(id.Value)}, Text: text, Shard: shard, Gone: gone})
		return nil
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

// EachDocument calls f with every document of the cursor, and closes it. The
// document is valid during the call.
func EachDocument(ctx context.Context, cursor *mongodb.Cursor, f func(bson.Raw) error) error {
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
