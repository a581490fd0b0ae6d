package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Query is what one snapshot answers: the tables to lock first, as "schema.table",
// and the statements in order.
type Query struct {
	Tables     []string
	Statements []Statement
}

// Statement is SQL with its parameters in text form; nil is NULL.
type Statement struct {
	SQL    string
	Params [][]byte
}

// Column describes a result's column as the server does.
type Column struct {
	Name   string
	OID    uint32 // the type's
	Typmod int32  // -1 where the type has no modifier
}

// Sink takes what a read found, in order: Begin once, then for each statement
// its columns and its rows. Values are in text form, nil is NULL, and they are
// valid only during the call. An error ends the read and is returned by it.
type Sink interface {
	Begin(Snapshot) error
	Columns(statement int, columns []Column) error
	Row(statement int, values [][]byte) error
}

// Timing says where a read's time went.
type Timing struct {
	Read    time.Duration // connection, locks, queries
	Durable time.Duration // the wait until all that was read is on the shard's disk
}

// Read answers the query in one snapshot and returns once it is durable there.
func (s *Shard) Read(ctx context.Context, q Query, sink Sink) (Timing, error) {
	ctx, cancel := context.WithTimeout(ctx, s.readTimeout)
	defer cancel()
	start := time.Now()
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return Timing{}, fmt.Errorf("connecting to shard %s: %w", s.name, err)
	}
	defer conn.Release()
	r := &reading{sink: sink, pipeline: conn.Conn().PgConn().StartPipeline(ctx)}
	err = errors.Join(r.run(s.preamble(q.Tables), q.Statements), r.pipeline.Close())
	read := Timing{Read: time.Since(start)}
	if err != nil {
		return read, s.abandon(ctx, conn, r.cause(err))
	}
	read.Durable, err = s.awaitDurable(ctx, conn.Conn(), r.snapshot.InsertLSN, r.flushed)
	return read, err
}

// preamble is what comes before the first snapshot. A SELECT here would take it.
func (s *Shard) preamble(tables []string) []string {
	return []string{
		"BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY",
		"SET LOCAL row_security = off", // an error where a policy would hide rows
		"SET LOCAL TimeZone = 'UTC'",
		"SET LOCAL DateStyle = 'ISO, YMD'",
		fmt.Sprintf("SET LOCAL lock_timeout = %d", s.lockTimeout.Milliseconds()),
		"LOCK TABLE " + quoteTables(tables) + " IN ACCESS SHARE MODE",
	}
}

const snapshotSQL = `SELECT pg_current_snapshot()::text, (extract(epoch FROM clock_timestamp()) * 1000)::bigint, i.id::text, i.system_identifier::text,
 c.system_identifier::text, pg_walfile_name(pg_current_wal_lsn()), pg_current_wal_insert_lsn()::text
 FROM pg_control_system() c LEFT JOIN prejoin.incarnation i ON true`

const flushedSQL = "SELECT pg_current_wal_flush_lsn()::text"

func quoteTables(tables []string) string {
	quoted := make([]string, len(tables))
	for i, t := range tables {
		quoted[i] = pgx.Identifier(strings.SplitN(t, ".", 2)).Sanitize()
	}
	return strings.Join(quoted, ", ")
}

// reading is one round trip: everything is sent, then the answers are taken in order.
type reading struct {
	pipeline *pgconn.Pipeline
	sink     Sink
	snapshot Snapshot
	flushed  uint64
	sinkErr  error
}

func (r *reading) run(preamble []string, statements []Statement) error {
	for _, sql := range preamble {
		r.pipeline.SendQueryParams(sql, nil, nil, nil, nil)
	}
	r.pipeline.SendQueryParams(snapshotSQL, nil, nil, nil, nil)
	for _, st := range statements {
		r.pipeline.SendQueryParams(st.SQL, st.Params, nil, nil, nil)
	}
	r.pipeline.SendQueryParams("COMMIT", nil, nil, nil, nil)
	r.pipeline.SendQueryParams(flushedSQL, nil, nil, nil, nil)
	if err := r.pipeline.Sync(); err != nil {
		return err
	}
	return r.receive(len(preamble), len(statements))
}

func (r *reading) receive(preamble, statements int) error {
	for range preamble {
		if err := r.skip(); err != nil {
			return err
		}
	}
	if err := r.begin(); err != nil {
		return err
	}
	for i := range statements {
		if err := r.statement(i); err != nil {
			return err
		}
	}
	if err := r.skip(); err != nil { // COMMIT
		return err
	}
	return r.one(func(values [][]byte) (err error) {
		r.flushed, err = parseLSN(string(values[0]))
		return err
	})
}

func (r *reading) begin() error {
	err := r.one(func(values [][]byte) (err error) {
		r.snapshot, err = snapshotOf(values)
		return err
	})
	if err != nil {
		return err
	}
	return r.told(r.sink.Begin(r.snapshot))
}

func (r *reading) statement(i int) error {
	rows, err := r.next()
	if err != nil {
		return err
	}
	if err := r.told(r.sink.Columns(i, columnsOf(rows.FieldDescriptions()))); err != nil {
		return err
	}
	for rows.NextRow() {
		if err := r.told(r.sink.Row(i, rows.Values())); err != nil {
			return err
		}
	}
	_, err = rows.Close()
	return err
}

// told remembers the sink's error, to tell it from the server's.
func (r *reading) told(err error) error {
	r.sinkErr = err
	return err
}

func (r *reading) cause(err error) error {
	if r.sinkErr != nil {
		return r.sinkErr
	}
	return err
}

func (r *reading) skip() error {
	rows, err := r.next()
	if err != nil {
		return err
	}
	_, err = rows.Close()
	return err
}

func (r *reading) one(take func(values [][]byte) error) error {
	rows, err := r.next()
	if err != nil {
		return err
	}
	if !rows.NextRow() {
		_, err := rows.Close()
		return errors.Join(errors.New("the server gave no row where one was expected"), err)
	}
	if err := take(rows.Values()); err != nil {
		return err
	}
	_, err = rows.Close()
	return err
}

func (r *reading) next() (*pgconn.ResultReader, error) {
	results, err := r.pipeline.GetResults()
	if err != nil {
		return nil, err
	}
	rows, ok := results.(*pgconn.ResultReader)
	if !ok {
		return nil, fmt.Errorf("the server answered out of order with %T", results)
	}
	return rows, nil
}

func columnsOf(fields []pgconn.FieldDescription) []Column {
	columns := make([]Column, len(fields))
	for i, f := range fields {
		columns[i] = Column{Name: f.Name, OID: f.DataTypeOID, Typmod: f.TypeModifier}
	}
	return columns
}

// abandon leaves the connection usable after an error and names the shard.
func (s *Shard) abandon(ctx context.Context, conn *pgxpool.Conn, err error) error {
	if !conn.Conn().IsClosed() { // in a failed transaction the pool would throw it away
		_, rollbackErr := conn.Exec(ctx, "ROLLBACK")
		err = errors.Join(err, rollbackErr)
	}
	var pgErr *pgconn.PgError
	if errors.As(err, &pgErr) && pgErr.Code == "55P03" {
		err = errors.Join(ErrLockTimeout, err)
	}
	return fmt.Errorf("reading from shard %s: %w", s.name, err)
}

// awaitDurable waits until the shard's WAL is on disk up to the position that
// the snapshot was taken at. With synchronous_commit=off a crash would take
// back rows that were read sooner. The WAL writer does it within its delay
// (200 ms by default); normally there is nothing to wait for.
func (s *Shard) awaitDurable(ctx context.Context, conn *pgx.Conn, want, have uint64) (time.Duration, error) {
	start := time.Now()
	for pause := time.Millisecond; have < want; pause = min(2*pause, 20*time.Millisecond) {
		select {
		case <-ctx.Done():
			return time.Since(start), fmt.Errorf("waiting for shard %s to flush its WAL: %w", s.name, ctx.Err())
		case <-time.After(pause):
		}
		var text string
		err := conn.QueryRow(ctx, flushedSQL).Scan(&text)
		if err == nil {
			have, err = parseLSN(text)
		}
		if err != nil {
			return time.Since(start), fmt.Errorf("waiting for shard %s to flush its WAL: %w", s.name, err)
		}
	}
	return time.Since(start), nil
}
