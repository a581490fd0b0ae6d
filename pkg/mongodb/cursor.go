package mongodb

import (
	"context"
	"errors"
	"io"
	"time"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
)

// Cursor gives raw documents a server batch at a time. It is for one goroutine
// at a time; cursors of one snapshot may be read by several goroutines.
type Cursor struct {
	collection string
	cursor     *mongo.Cursor
	timeout    time.Duration
	snapshot   *Snapshot
	pages      [2]page
	turn       int
	err        error
}

// page is one batch, copied out of the driver's memory, which is only good
// until the next read: all bytes in one buffer, the documents as slices of it.
type page struct {
	bytes []byte
	ends  []int
	docs  []bson.Raw
}

// Next returns the next batch, or io.EOF after the last. Its documents are good
// until the call of Next after the following one, so that a batch can be
// encoded while the next is fetched. They must not be changed.
func (c *Cursor) Next(ctx context.Context) ([]bson.Raw, error) {
	if c.err != nil {
		return nil, c.err
	}
	p := &c.pages[c.turn]
	c.turn = 1 - c.turn
	p.bytes, p.ends = p.bytes[:0], p.ends[:0]
	limited, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	err := c.locked(limited, func(ctx context.Context) error {
		for c.cursor.Next(ctx) {
			p.add(c.cursor.Current)
			if c.cursor.RemainingBatchLength() == 0 {
				break
			}
		}
		return c.cursor.Err()
	})
	if err != nil {
		c.err = cut(classify(ctx, "reading from "+c.collection, quiet(err)))
		return nil, c.err
	}
	if len(p.ends) == 0 {
		c.err = io.EOF
		return nil, io.EOF
	}
	return p.slices(), nil
}

// cut keeps io.EOF, which the driver's errors of a lost connection wrap, out of
// an error's chain: a reader would take it for the end of the rows and call a
// part the whole (seen with mongod killed under four exports).
func cut(err error) error {
	if !errors.Is(err, io.EOF) {
		return err
	}
	if Temporary(err) {
		return &temporary{errors.New(err.Error())}
	}
	return errors.New(err.Error())
}

func (p *page) add(doc bson.Raw) {
	p.bytes = append(p.bytes, doc...)
	p.ends = append(p.ends, len(p.bytes))
}

// slices is made after the last add, which may have moved the bytes.
func (p *page) slices() []bson.Raw {
	p.docs = p.docs[:0]
	start := 0
	for _, end := range p.ends {
		p.docs = append(p.docs, p.bytes[start:end:end])
		start = end
	}
	return p.docs
}

// locked runs a request in the snapshot's session, if there is one. A session
// is for one request at a time.
func (c *Cursor) locked(ctx context.Context, request func(context.Context) error) error {
	if c.snapshot == nil {
		return request(ctx)
	}
	c.snapshot.mu.Lock()
	defer c.snapshot.mu.Unlock()
	return request(mongo.NewSessionContext(ctx, c.snapshot.session))
}

// Close ends the cursor on the server too, even where the reads' context has
// ended. It may be called again.
func (c *Cursor) Close() {
	if c.err == nil {
		c.err = io.ErrClosedPipe
	}
	id := c.cursor.ID()
	_ = c.locked(context.Background(), func(ctx context.Context) error {
		closeCursor(ctx, c.cursor)
		return nil
	})
	if c.snapshot != nil && id != 0 {
		c.kill(id)
	}
}

// kill ends a cursor of a snapshot on the server. The driver asks for that in
// the snapshot's session, with its read concern, which the server refuses
// (InvalidOptions with driver 1.17.10 and MongoDB 6.0): each export that is cut
// would leave a cursor for ten minutes.
func (c *Cursor) kill(id int64) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	_ = c.snapshot.db.r.RunCommand(ctx, bson.D{{Key: "killCursors", Value: c.collection}, {Key: "cursors", Value: bson.A{id}}}).Err()
}
