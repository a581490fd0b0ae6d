package export

import (
	"context"
	"fmt"
	"io"
	"runtime/debug"
	"time"

	"go.mongodb.org/mongo-driver/bson"
)

// A piece is a part of a batch, copied so that the source may reuse its memory
// while the piece is encoded: at most Options.Rows documents or pieceBytes.
type piece struct {
	docs []bson.Raw
	mem  []byte
}

const pieceBytes = 2 << 20

// fetch reads one batch ahead of the encoder. The digest runs here: on a second
// core it costs the export nothing.
type fetch struct {
	rows   Rows
	limit  int
	digest *Digest
	pieces chan *piece // closed after the last
	free   chan *piece
	err    error // io.EOF, or what went wrong; read it when pieces is closed
	find   time.Duration
	hash   time.Duration
}

func startFetch(ctx context.Context, rows Rows, o Options) *fetch {
	f := &fetch{rows: rows, limit: o.Rows, digest: o.Digest, pieces: make(chan *piece), free: make(chan *piece, 2)}
	f.free <- &piece{}
	f.free <- &piece{}
	go f.run(ctx)
	return f
}

// stop waits until the source is no longer in use; ctx must be cancelled before.
func (f *fetch) stop() {
	for range f.pieces {
	}
}

func (f *fetch) recycle(p *piece) { f.free <- p }

// run also turns a panic into an error: nobody else could, since it runs beside
// the handler, and the process would end with all its requests.
func (f *fetch) run(ctx context.Context) {
	defer close(f.pieces)
	defer func() {
		if r := recover(); r != nil {
			f.err = fmt.Errorf("reading rows: panic: %v\n%s", r, debug.Stack())
		}
	}()
	for f.err == nil {
		var batch []bson.Raw
		if batch, f.err = f.next(ctx); f.err == nil {
			f.err = f.hand(ctx, batch)
		}
	}
}

func (f *fetch) next(ctx context.Context) ([]bson.Raw, error) {
	start := time.Now()
	batch, err := f.rows.Next(ctx)
	f.find += time.Since(start)
	if err != nil && err != io.EOF { //nolint:errorlint // a lost connection wraps io.EOF and is not the end
		err = fmt.Errorf("reading rows: %w", err)
	}
	return batch, err
}

// hand passes a batch on in pieces.
func (f *fetch) hand(ctx context.Context, batch []bson.Raw) error {
	for len(batch) > 0 {
		var p *piece
		select {
		case p = <-f.free:
		case <-ctx.Done():
			return ctx.Err()
		}
		n := p.load(batch, f.limit)
		batch = batch[n:]
		if err := f.add(p.docs); err != nil {
			return err
		}
		select {
		case f.pieces <- p:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

func (f *fetch) add(docs []bson.Raw) error {
	if f.digest == nil {
		return nil
	}
	start := time.Now()
	defer func() { f.hash += time.Since(start) }()
	for _, doc := range docs {
		if err := f.digest.Add(doc); err != nil {
			return fmt.Errorf("hashing rows: %w", err)
		}
	}
	return nil
}

// load copies documents, at least one, and returns how many.
func (p *piece) load(batch []bson.Raw, limit int) int {
	n, size := 0, 0
	for n < len(batch) && n < limit && (n == 0 || size+len(batch[n]) <= pieceBytes) {
		size += len(batch[n])
		n++
	}
	if cap(p.mem) < size {
		p.mem = make([]byte, 0, size)
	}
	p.mem, p.docs = p.mem[:0], p.docs[:0]
	for _, doc := range batch[:n] {
		start := len(p.mem)
		p.mem = append(p.mem, doc...)
		p.docs = append(p.docs, bson.Raw(p.mem[start:len(p.mem):len(p.mem)]))
	}
	return n
}
