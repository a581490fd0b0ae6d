package export

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"go.mongodb.org/mongo-driver/bson"
)

// Rows is where documents come from, a batch at a time.
type Rows interface {
	// Next returns the next batch, or io.EOF after the last. The batch is not
	// used after the following call of Next; it must obey ctx.
	Next(ctx context.Context) ([]bson.Raw, error)
}

// FlushWriter is where bytes go, such as a response: Flush pushes what was
// written on to the client.
type FlushWriter interface {
	io.Writer
	Flush() error
}

// Options steer Stream; zero values mean the defaults.
type Options struct {
	Rows   int           // documents a flush; default 1,000 (measured: more gains nothing)
	Every  time.Duration // the longest that encoded rows wait for a flush; default 200 ms
	Bytes  int           // encoded bytes that force a flush before Rows; default 4 MiB
	Digest *Digest       // hashes the documents beside the encoding; nil: no digest
}

// Result is what was exported, also on an error.
type Result struct {
	Rows     int64  // documents encoded
	Bytes    int64  // bytes handed to the writer
	Digest   string // hexadecimal; only after success, with Options.Digest
	Started  bool   // a write was tried: a status and headers may have left, only an abort is honest now
	Reported []Loss // values that did not leave as the model's type
	Sections Sections
}

// Sections is where the time went. Find and Digest run beside the others.
type Sections struct {
	Find   time.Duration // in Rows.Next
	Digest time.Duration // hashing
	Wait   time.Duration // the encoder waiting for a batch
	Encode time.Duration // documents to bytes (Excel: compression too)
	Write  time.Duration // in Write
	Flush  time.Duration // in Flush
}

// Stream exports all rows. One batch is fetched and hashed while another is encoded;
// what is encoded leaves in one write and one flush every Options.Rows documents,
// or Options.Every after the first of them. Nothing is written before the first
// batch has come, and the file is ended only after the last. On an error the caller
// looks at Result.Started: if it is false an error can still be answered, else the
// connection must be cut. Stream returns only when Rows is no longer in use.
//
// A Write that blocks is not interrupted by ctx: give the writer a deadline.
func Stream(ctx context.Context, rows Rows, enc Encoder, w FlushWriter, o Options) (Result, error) {
	s := &stream{enc: enc, w: w, o: o.defaults()}
	err := s.all(ctx, rows)
	s.res.Reported = enc.Reported()
	return s.res, err
}

func (s *stream) all(ctx context.Context, rows Rows) error {
	ctx, cancel := context.WithCancel(ctx)
	f := startFetch(ctx, rows, s.o)
	defer func() {
		cancel()
		f.stop()
		s.res.Sections.Find, s.res.Sections.Digest = f.find, f.hash
	}()
	return s.run(ctx, f)
}

func (o Options) defaults() Options {
	if o.Rows <= 0 {
		o.Rows = 1000
	}
	if o.Every <= 0 {
		o.Every = 200 * time.Millisecond
	}
	if o.Bytes <= 0 {
		o.Bytes = 4 << 20
	}
	return o
}

type stream struct {
	enc     Encoder
	w       FlushWriter
	o       Options
	res     Result
	pending int       // documents encoded since the last flush
	due     time.Time // when pending documents must leave
	begun   bool
}

func (s *stream) run(ctx context.Context, f *fetch) error {
	for {
		p, err := s.await(ctx, f)
		switch {
		case errors.Is(err, errDue):
			err = s.flush()
		case err == io.EOF: //nolint:errorlint // a lost connection wraps io.EOF and is not the end
			return s.end(f)
		case err == nil:
			err = s.encode(p.docs)
			f.recycle(p)
		}
		if err != nil {
			return err
		}
	}
}

var errDue = errors.New("pending rows are due")

// await returns the next piece, errDue when pending rows have waited long enough, or
// the error that ended the rows.
func (s *stream) await(ctx context.Context, f *fetch) (*piece, error) {
	defer s.time(&s.res.Sections.Wait)()
	var due <-chan time.Time
	if s.pending > 0 {
		t := time.NewTimer(time.Until(s.due))
		defer t.Stop()
		due = t.C
	}
	select {
	case p, open := <-f.pieces:
		if !open {
			return nil, f.err
		}
		return p, nil
	case <-due:
		return nil, errDue
	case <-ctx.Done():
		return nil, fmt.Errorf("exporting: %w", context.Cause(ctx))
	}
}

func (s *stream) encode(docs []bson.Raw) error {
	if err := s.begin(); err != nil {
		return err
	}
	for len(docs) > 0 {
		n, err := s.fill(docs)
		if err != nil {
			return err
		}
		docs = docs[n:]
		if s.pending >= s.o.Rows || s.enc.Buffered() >= s.o.Bytes || !time.Now().Before(s.due) {
			if err := s.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// fill encodes documents until a flush is due by number or size.
func (s *stream) fill(docs []bson.Raw) (int, error) {
	defer s.time(&s.res.Sections.Encode)()
	if s.pending == 0 {
		s.due = time.Now().Add(s.o.Every)
	}
	for i, doc := range docs {
		if err := s.enc.Row(doc); err != nil {
			return i, fmt.Errorf("encoding row %d: %w", s.res.Rows+1, err)
		}
		s.res.Rows++
		s.pending++
		if s.pending >= s.o.Rows || s.enc.Buffered() >= s.o.Bytes {
			return i + 1, nil
		}
	}
	return len(docs), nil
}

func (s *stream) begin() error {
	if s.begun {
		return nil
	}
	s.begun = true
	defer s.time(&s.res.Sections.Encode)()
	return s.enc.Begin()
}

func (s *stream) end(f *fetch) error {
	if err := s.begin(); err != nil {
		return err
	}
	if f.digest != nil {
		s.res.Digest = f.digest.Sum()
	}
	stop := s.time(&s.res.Sections.Encode)
	err := s.enc.End(Summary{Rows: s.res.Rows, Digest: s.res.Digest})
	stop()
	if err == nil {
		err = s.flush()
	}
	if err != nil {
		s.res.Digest = ""
	}
	return err
}

func (s *stream) flush() error {
	s.pending = 0
	if s.enc.Buffered() > 0 {
		stop := s.time(&s.res.Sections.Write)
		s.res.Started = true
		err := s.enc.Flush(counter{s.w, &s.res.Bytes})
		stop()
		if err != nil {
			return fmt.Errorf("writing after %d bytes: %w", s.res.Bytes, err)
		}
	}
	defer s.time(&s.res.Sections.Flush)()
	if err := s.w.Flush(); err != nil {
		return fmt.Errorf("flushing after %d bytes: %w", s.res.Bytes, err)
	}
	return nil
}

func (s *stream) time(to *time.Duration) func() {
	start := time.Now()
	return func() { *to += time.Since(start) }
}

// counter counts the bytes that the writer took, and takes a short write for an error.
type counter struct {
	w io.Writer
	n *int64
}

func (c counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	*c.n += int64(n)
	if err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	return n, err
}
