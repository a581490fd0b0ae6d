package export_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/bson"

	"prejoin/pkg/export"
)

// source hands out batches, reusing its memory as a driver may: what Stream still
// holds of the batch before is overwritten.
type source struct {
	batches [][]bson.D
	failAt  int           // the call of Next that fails, from 0; -1: none
	wait    time.Duration // before each batch
	mem     []byte
	calls   int
}

var errSource = fmt.Errorf("socket was unexpectedly closed: %w", io.EOF) // as the driver says a lost connection

func (s *source) Next(ctx context.Context) ([]bson.Raw, error) {
	for i := range s.mem {
		s.mem[i] = 0xFF
	}
	select {
	case <-time.After(s.wait):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { s.calls++ }()
	if s.failAt == s.calls {
		return nil, errSource
	}
	if s.calls >= len(s.batches) {
		return nil, io.EOF
	}
	s.mem = nil
	var docs []bson.Raw
	for _, d := range s.batches[s.calls] {
		s.mem = append(s.mem, raw(d)...)
	}
	rest := s.mem
	for range s.batches[s.calls] {
		n := rest
		size := int(uint32(n[0]) | uint32(n[1])<<8 | uint32(n[2])<<16 | uint32(n[3])<<24)
		docs, rest = append(docs, bson.Raw(rest[:size])), rest[size:]
	}
	return docs, nil
}

// sink counts writes and flushes and fails after so many bytes.
type sink struct {
	bytes.Buffer
	room            int // bytes until the failure; -1: none
	writes, flushes int
	at              []time.Time
	wait            time.Duration
	failFlush       int // the flush that fails, from 1; 0: none
}

var errSink = errors.New("client left")

func (s *sink) Write(p []byte) (int, error) {
	s.writes++
	s.at = append(s.at, time.Now())
	time.Sleep(s.wait)
	if s.room >= 0 && len(p) > s.room {
		n, _ := s.Buffer.Write(p[:s.room])
		s.room = 0
		return n, errSink
	}
	if s.room >= 0 {
		s.room -= len(p)
	}
	return s.Buffer.Write(p)
}

func (s *sink) Flush() error {
	s.flushes++
	if s.flushes == s.failFlush {
		return errSink
	}
	return nil
}

func rows(batches ...int) *source {
	s := &source{failAt: -1}
	id := int64(0)
	for _, n := range batches {
		var docs []bson.D
		for range n {
			id++
			docs = append(docs, with(whole(), "_id", id))
		}
		s.batches = append(s.batches, docs)
	}
	return s
}

func stream(t testing.TB, src export.Rows, w export.FlushWriter, o export.Options) (export.Result, error) {
	t.Helper()
	return export.Stream(t.Context(), src, export.NewNDJSON(layout(t, export.Config{}), false), w, o)
}

func TestStreamWritesEachRowOnce(t *testing.T) {
	src, w := rows(11, 0, 250, 1, 100), &sink{room: -1}
	l := layout(t, export.Config{})
	digest := export.NewDigest(l)
	res, err := export.Stream(t.Context(), src, export.NewNDJSON(l, true), w, export.Options{Digest: digest, Rows: 100, Every: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	var all []bson.D
	for _, b := range src.batches {
		all = append(all, b...)
	}
	enc := export.NewNDJSON(l, true)
	want := encode(t, enc, all...)
	want = strings.Replace(want, `"digest":"abc"`, `"digest":"`+expected(all)+`"`, 1)
	if w.String() != want {
		t.Errorf("%d bytes differ from the encoder's %d", w.Len(), len(want))
	}
	if res.Rows != 362 || res.Bytes != int64(w.Len()) || res.Digest != expected(all) || !res.Started {
		t.Errorf("result %+v", res)
	}
	if w.writes != 4 || w.flushes != 4 {
		t.Errorf("%d writes, %d flushes for 362 rows, want 4 and 4", w.writes, w.flushes)
	}
}

func TestStreamDefaultIs1000Rows(t *testing.T) {
	src, w := &batches{}, &sink{room: -1}
	for range 2001 {
		src.docs = append(src.docs, raw(bson.D{{Key: "_id", Value: int64(1)}}))
	}
	res, err := stream(t, src, w, export.Options{Every: time.Hour})
	if err != nil || res.Rows != 2001 || w.writes != 3 || w.flushes != 3 {
		t.Errorf("%+v, %v, %d writes, %d flushes", res, err, w.writes, w.flushes)
	}
}

func TestStreamOfNoRows(t *testing.T) {
	w := &sink{room: -1}
	res, err := stream(t, rows(), w, export.Options{})
	if err != nil || res.Rows != 0 || w.flushes != 1 || w.Len() != 0 {
		t.Errorf("%+v, %v, %d flushes", res, err, w.flushes)
	}
}

func TestStreamSourceFailsAtEachBatch(t *testing.T) {
	for at := range 6 {
		src, w := rows(10, 10, 10, 10, 10), &sink{room: -1}
		src.failAt = at
		res, err := export.Stream(t.Context(), src, export.NewJSON(layout(t, export.Config{})), w, export.Options{Rows: 10})
		if !errors.Is(err, errSource) {
			t.Fatalf("batch %d: %v", at, err)
		}
		if res.Started != (at > 0) || (w.writes > 0) != res.Started || res.Rows != int64(at)*10 {
			t.Errorf("batch %d: %+v after %d writes", at, res, w.writes)
		}
		if strings.HasSuffix(w.String(), "]\n") {
			t.Errorf("batch %d: the file was closed", at)
		}
	}
}

func TestStreamBrokenDocument(t *testing.T) {
	src := brokenSource{raw(whole()), bson.Raw{1, 2, 3}}
	w := &sink{room: -1}
	res, err := stream(t, src, w, export.Options{})
	if !errors.Is(err, export.ErrDocument) || res.Started || w.writes > 0 {
		t.Errorf("%+v, %v", res, err)
	}
}

type brokenSource []bson.Raw

func (s brokenSource) Next(context.Context) ([]bson.Raw, error) { return s, nil }

// TestStreamWriterFailsAtEachByte cuts the connection after every possible byte.
func TestStreamWriterFailsAtEachByte(t *testing.T) {
	full := &sink{room: -1}
	l := layout(t, export.Config{Columns: []string{"saleId", "amount", "lines.kind"}})
	stream := func(t *testing.T, src export.Rows, w export.FlushWriter, o export.Options) (export.Result, error) {
		return export.Stream(t.Context(), src, export.NewNDJSON(l, false), w, o)
	}
	if _, err := stream(t, rows(2, 2, 1), full, export.Options{Rows: 2, Every: time.Hour}); err != nil {
		t.Fatal(err)
	}
	for room := range full.Len() {
		w := &sink{room: room}
		res, err := stream(t, rows(2, 2, 1), w, export.Options{Rows: 2, Every: time.Hour, Digest: export.NewDigest(layout(t, export.Config{}))})
		if !errors.Is(err, errSink) || !res.Started || res.Digest != "" || res.Bytes != int64(room) {
			t.Fatalf("after %d bytes: %+v, %v", room, res, err)
		}
		if !strings.HasPrefix(full.String(), w.String()) {
			t.Fatalf("after %d bytes: %q", room, w.String())
		}
	}
	for n := 1; n <= full.flushes; n++ {
		if _, err := stream(t, rows(2, 2, 1), &sink{room: -1, failFlush: n}, export.Options{Rows: 2, Every: time.Hour}); !errors.Is(err, errSink) {
			t.Errorf("flush %d: %v", n, err)
		}
	}
}

func TestStreamShortWrite(t *testing.T) {
	if _, err := stream(t, rows(1), shortWriter{}, export.Options{}); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("got %v", err)
	}
}

type shortWriter struct{}

func (shortWriter) Write(p []byte) (int, error) { return len(p) - 1, nil }
func (shortWriter) Flush() error                { return nil }

func TestStreamSlowWriter(t *testing.T) {
	w := &sink{room: -1, wait: 5 * time.Millisecond}
	res, err := stream(t, rows(30, 30, 30), w, export.Options{Rows: 10, Every: time.Hour})
	if err != nil || res.Rows != 90 || w.writes != 9 || res.Sections.Write < 45*time.Millisecond {
		t.Errorf("%+v, %v, %d writes", res, err, w.writes)
	}
}

// TestStreamRowsLeaveInTime: few rows must not wait for a slow source.
func TestStreamRowsLeaveInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src, w := rows(3, 3, 3), &sink{room: -1}
		src.wait = time.Second
		start := time.Now()
		if _, err := stream(t, src, w, export.Options{}); err != nil {
			t.Fatal(err)
		}
		if len(w.at) != 3 {
			t.Fatalf("%d writes, want 3", len(w.at))
		}
		for i, at := range w.at {
			if got, want := at.Sub(start), time.Duration(i+1)*time.Second+200*time.Millisecond; got != want {
				t.Errorf("write %d after %v, want %v", i, got, want)
			}
		}
	})
}

func TestStreamCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, after := range []time.Duration{time.Millisecond, 1500 * time.Millisecond, 2100 * time.Millisecond} {
			src, w := rows(3, 3, 3), &sink{room: -1}
			src.wait = time.Second
			ctx, cancel := context.WithTimeout(t.Context(), after)
			start := time.Now()
			res, err := export.Stream(ctx, src, export.NewNDJSON(layout(t, export.Config{}), false), w, export.Options{})
			cancel()
			if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != after {
				t.Errorf("%v: %v after %v", after, err, time.Since(start))
			}
			if res.Started != (after > time.Second) {
				t.Errorf("%v: %+v", after, res)
			}
		}
	})
}

// TestStreamBytesBound: long rows leave before 1,000 of them are there, and a batch
// of more than a piece is no trouble.
func TestStreamBytesBound(t *testing.T) {
	src, w := rows(50), &sink{room: -1}
	for i := range src.batches[0] {
		src.batches[0][i] = with(src.batches[0][i], "holdReason", strings.Repeat("x", 10_000))
	}
	if _, err := stream(t, src, w, export.Options{Bytes: 40_000, Every: time.Hour}); err != nil {
		t.Fatal(err)
	}
	if w.writes != 13 {
		t.Errorf("%d writes for 50 rows of 10 kB, want one in four rows", w.writes)
	}
	long := raw(with(whole(), "holdReason", strings.Repeat("x", 3<<20)))
	big := &batches{docs: []bson.Raw{long, long, raw(whole())}}
	if res, err := stream(t, big, w, export.Options{}); err != nil || res.Rows != 3 {
		t.Errorf("%+v, %v", res, err)
	}
}

type panicking struct{ export.Encoder }

func (panicking) Row(bson.Raw) error { panic("encoder bug") }

// TestStreamPanicLeavesNothingBehind relies on goleak in TestMain.
func TestStreamPanicLeavesNothingBehind(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("the panic was swallowed")
		}
	}()
	enc := panicking{export.NewNDJSON(layout(t, export.Config{}), false)}
	_, _ = export.Stream(t.Context(), rows(3, 3, 3), enc, &sink{room: -1}, export.Options{})
}

type slow struct{ export.Encoder }

func (s slow) Row(doc bson.Raw) error {
	time.Sleep(30 * time.Millisecond)
	return s.Encoder.Row(doc)
}

// TestStreamSlowEncoder: a source that is always ready does not put a flush off.
func TestStreamSlowEncoder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		batches := make([]int, 40)
		for i := range batches {
			batches[i] = 1
		}
		w := &sink{room: -1}
		enc := slow{export.NewNDJSON(layout(t, export.Config{}), false)}
		if _, err := export.Stream(t.Context(), rows(batches...), enc, w, export.Options{}); err != nil {
			t.Fatal(err)
		}
		for i := 1; i < len(w.at); i++ {
			if gap := w.at[i].Sub(w.at[i-1]); gap > 240*time.Millisecond {
				t.Errorf("write %d came %v after the one before", i, gap)
			}
		}
		if len(w.at) != 6 {
			t.Errorf("%d writes in 1.2 s, want 6", len(w.at))
		}
	})
}

type bursting struct{ *source }

func (b bursting) Next(ctx context.Context) ([]bson.Raw, error) {
	if b.calls == 1 {
		panic("source bug")
	}
	return b.source.Next(ctx)
}

// A panic of the source happens beside the caller, who could not recover it.
func TestStreamSourcePanicIsAnError(t *testing.T) {
	res, err := stream(t, bursting{rows(3, 3)}, &sink{room: -1}, export.Options{})
	if err == nil || !strings.Contains(err.Error(), "source bug") || res.Rows != 3 || res.Digest != "" {
		t.Errorf("%+v, %v", res, err)
	}
}
