package mongodb

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"
	"go.mongodb.org/mongo-driver/mongo/readpref"
)

// Find is one query. Tombstones are the caller's to leave out: see Live.
type Find struct {
	Collection string
	Filter     bson.D // nil: all
	Sort       bson.D // nil: as they come
	Projection bson.D // nil: whole documents
	Limit      int64  // 0: none
	BatchSize  int32  // documents a batch; 0: 1,000 (101, the server's own first batch, is 1.5 to 1.9 times slower)
	// MaxTime bounds the work on the server, over all batches together and
	// without the waits between them; 0: unbounded.
	MaxTime time.Duration
	Hint    string // an index's name; "": the server chooses
	// Primary reads from the primary, whatever readPreference the URI names: a
	// walk that lists what is there would miss on a lagging secondary what has
	// been written.
	Primary bool
}

func (f Find) options() *options.FindOptions {
	o := options.Find().SetBatchSize(f.BatchSize).SetLimit(f.Limit)
	if f.BatchSize <= 0 {
		o.SetBatchSize(1000)
	}
	if f.Sort != nil {
		o.SetSort(f.Sort)
	}
	if f.Projection != nil {
		o.SetProjection(f.Projection)
	}
	if f.MaxTime > 0 {
		o.SetMaxTime(f.MaxTime)
	}
	if f.Hint != "" {
		o.SetHint(f.Hint)
	}
	return o
}

func (f Find) preference() *options.CollectionOptions {
	o := options.Collection()
	if f.Primary {
		o.SetReadPreference(readpref.Primary())
	}
	return o
}

// Find starts a query outside of any snapshot: each batch shows what a
// majority holds when it is read. The caller closes the cursor.
func (db *DB) Find(ctx context.Context, f Find) (*Cursor, error) {
	return db.find(ctx, f, nil)
}

func (db *DB) find(ctx context.Context, f Find, s *Snapshot) (*Cursor, error) {
	if f.Filter == nil {
		f.Filter = bson.D{}
	}
	c := &Cursor{collection: f.Collection, timeout: db.readTimeout, snapshot: s}
	limited, cancel := context.WithTimeout(ctx, db.readTimeout)
	defer cancel()
	err := c.locked(limited, func(ctx context.Context) (err error) {
		c.cursor, err = db.r.Collection(f.Collection, f.preference()).Find(ctx, f.Filter, f.options())
		return err
	})
	if err != nil {
		return nil, f.explain(ctx, err)
	}
	return c, nil
}

// ErrIndexMissing is returned by a find whose index (Hint) the server cannot use.
var ErrIndexMissing = errors.New("its index is missing; start the projector, which makes it")

const (
	codeBadValue     = 2
	codeNoPlan       = 291
	codeIndexUnknown = 27
)

// explain keeps the planner's words out: they quote the filter's values, which
// may name people, and errors are logged.
func (f Find) explain(ctx context.Context, err error) error {
	doing := "finding in " + f.Collection
	if f.Hint != "" && hasCode(err, codeBadValue, codeNoPlan, codeIndexUnknown) {
		return fmt.Errorf("%s by %s: %w", doing, f.Hint, ErrIndexMissing)
	}
	return classify(ctx, doing, quiet(err))
}

// quiet leaves of an error that time cannot cure only its name and number.
func quiet(err error) error {
	var c mongo.CommandError
	if !errors.As(err, &c) || isTemporary(err) || hasCode(err, codeSnapshotTooOld, codeSnapshotUnavailable) {
		return err
	}
	return lasting(fmt.Sprintf("MongoDB answers %s (%d); its words may quote the filter and are left out", c.Name, c.Code))
}

// closeCursor closes with a context of its own: under an ended one the driver
// leaves killCursors out, and the server keeps the cursor for ten minutes.
func closeCursor(ctx context.Context, cursor *mongo.Cursor) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	_ = cursor.Close(ctx) // the server drops what this did not reach
}
