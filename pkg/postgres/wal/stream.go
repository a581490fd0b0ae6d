package wal

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
)

// Stream is one connection that reads the slot. Next and Close are for one goroutine, Confirm is for any.
type Stream struct {
	conn      *pgconn.PgConn
	parser    parser
	event     Event
	confirmed atomic.Uint64
	wake      chan struct{}
	stop      chan struct{}
	status    sync.WaitGroup
}

// statusEvery is well below wal_sender_timeout (60 s).
const statusEvery = 5 * time.Second

// Stream starts to read the slot behind what was confirmed, which EnsureSlot returned.
func (s *Shard) Stream(ctx context.Context, confirmed uint64) (*Stream, error) {
	conn, err := pgconn.ConnectConfig(ctx, s.stream)
	if err != nil {
		return nil, s.failed("connecting to the stream", err)
	}
	sql := fmt.Sprintf(`START_REPLICATION SLOT %s LOGICAL 0/0 (proto_version '1', publication_names '%s')`,
		quote(s.cfg.Slot), strings.ReplaceAll(quote(s.cfg.Publication), "'", "''"))
	if err := start(ctx, conn, sql); err != nil {
		_ = conn.Close(context.WithoutCancel(ctx))
		switch state(err) {
		case "55006":
			return nil, fmt.Errorf("%w: slot %s of shard %s: %w", ErrSlotActive, s.cfg.Slot, s.cfg.Shard, err)
		case "42704": // it was there when EnsureSlot looked
			return nil, s.lost("it is gone")
		}
		return nil, s.failed("starting to read slot "+s.cfg.Slot, err)
	}
	s.reader.Store(conn.PID())
	stream := &Stream{conn: conn, parser: parser{tables: map[uint32]*Table{}}, wake: make(chan struct{}, 1), stop: make(chan struct{})}
	// The shard reads from further back and says so while it is idle; what is confirmed must not go back with it.
	stream.confirmed.Store(confirmed)
	stream.status.Go(stream.report)
	return stream, nil
}

func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

func start(ctx context.Context, conn *pgconn.PgConn, sql string) error {
	conn.Frontend().SendQuery(&pgproto3.Query{String: sql})
	if err := conn.Frontend().Flush(); err != nil {
		return err
	}
	for {
		message, err := conn.ReceiveMessage(ctx)
		if err != nil {
			return err
		}
		switch m := message.(type) {
		case *pgproto3.CopyBothResponse:
			return nil
		case *pgproto3.ErrorResponse:
			return pgconn.ErrorResponseToPgError(m)
		}
	}
}

// Next waits for the next event. It is valid until the call after.
func (s *Stream) Next(ctx context.Context) (*Event, error) {
	for {
		message, err := s.conn.ReceiveMessage(ctx)
		if err != nil {
			return nil, fmt.Errorf("reading the slot: %w", err)
		}
		switch m := message.(type) {
		case *pgproto3.CopyData:
			if ok, err := s.read(m.Data); ok || err != nil {
				return &s.event, err
			}
		case *pgproto3.ErrorResponse:
			return nil, fmt.Errorf("reading the slot: %w", pgconn.ErrorResponseToPgError(m))
		case *pgproto3.CopyDone:
			return nil, fmt.Errorf("reading the slot: the shard ended the stream: %w", io.ErrUnexpectedEOF)
		}
	}
}

// read takes one message of the replication protocol: 'w' is WAL data, 'k' says how far the shard is.
func (s *Stream) read(b []byte) (bool, error) {
	switch {
	case len(b) > 25 && b[0] == 'w':
		return s.parser.parse(binary.BigEndian.Uint64(b[1:]), b[25:], &s.event)
	case len(b) == 18 && b[0] == 'k':
		if b[17] == 1 {
			s.signal()
		}
		s.event = Event{Kind: Idle, LSN: binary.BigEndian.Uint64(b[1:])}
		return !s.parser.open, nil
	}
	return false, fmt.Errorf("reading the slot: unknown message of %d bytes", len(b))
}

// Confirm says that everything before lsn is safe: the shard may forget it. It never goes back.
func (s *Stream) Confirm(lsn uint64) {
	for before := s.confirmed.Load(); lsn > before; before = s.confirmed.Load() {
		if s.confirmed.CompareAndSwap(before, lsn) {
			s.signal()
			return
		}
	}
}

func (s *Stream) signal() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// report tells the shard what is confirmed, at once and every few seconds, also while the reader is held back: else the shard would end the stream.
func (s *Stream) report() {
	ticker := time.NewTicker(statusEvery)
	defer ticker.Stop()
	for {
		select {
		case <-s.stop:
			_ = s.tell()
			return
		case <-s.wake:
		case <-ticker.C:
		}
		if s.tell() != nil {
			return // Next sees the broken connection too
		}
	}
}

// tell sends a standby status update. It writes to the socket itself: pgconn's
// own goroutine flushes the frontend when the connection breaks, and the
// frontend is for one goroutine.
func (s *Stream) tell() error {
	lsn := s.confirmed.Load()
	b := make([]byte, 0, 64)
	b = append(b, 'd', 0, 0, 0, 4+34, 'r')
	for range 3 { // written, flushed, applied; 0 leaves the slot where it is
		b = binary.BigEndian.AppendUint64(b, lsn)
	}
	b = binary.BigEndian.AppendUint64(b, uint64(time.Since(epoch).Microseconds()))
	b = append(b, 0)
	_, err := s.conn.Conn().Write(b)
	return err
}

// Close tells the shard what is confirmed and ends the connection.
func (s *Stream) Close(ctx context.Context) {
	close(s.stop)
	s.status.Wait()
	_ = s.conn.Close(ctx)
}
