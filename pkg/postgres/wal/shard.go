package wal

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Config names a shard's slot.
type Config struct {
	Shard       string // the shard's name, for messages
	DSN         string // of a role that may replicate
	Slot        string
	Publication string
	Log         *slog.Logger
}

// Shard is one shard to be captured. Its methods are safe for concurrent use.
type Shard struct {
	cfg      Config
	pool     *pgxpool.Pool
	stream   *pgconn.Config
	reader   atomic.Uint32 // the process on the shard that serves, or served, this one's stream
	Database string        // the shard's database
}

// Open prepares connections; it does not connect.
func Open(ctx context.Context, cfg Config) (*Shard, error) {
	poolConfig, err := pgxpool.ParseConfig(cfg.DSN)
	if err != nil {
		return nil, badDSN(cfg.Shard)
	}
	poolConfig.MaxConns = 2
	poolConfig.MinConns = 0
	poolConfig.ConnConfig.RuntimeParams["application_name"] = "prejoin capture"
	stream, err := pgconn.ParseConfig(cfg.DSN)
	if err != nil {
		return nil, badDSN(cfg.Shard)
	}
	for name, value := range map[string]string{"replication": "database", "application_name": "prejoin capture", "client_encoding": "UTF8",
		"TimeZone": "UTC", "DateStyle": "ISO", "bytea_output": "hex", "extra_float_digits": "1"} {
		stream.RuntimeParams[name] = value
	}
	pool, err := pgxpool.NewWithConfig(ctx, poolConfig)
	if err != nil {
		return nil, fmt.Errorf("preparing shard %s: %w", cfg.Shard, err)
	}
	return &Shard{cfg: cfg, pool: pool, stream: stream, Database: poolConfig.ConnConfig.Database}, nil
}

// badDSN does not hold pgx's error, which repeats a DSN that it cannot read, and its password with it.
func badDSN(shard string) error {
	return fmt.Errorf("shard %s has a DSN that cannot be parsed: write postgres://USER:PASSWORD@HOST:PORT/DATABASE", shard)
}

// Close ends the connections.
func (s *Shard) Close() { s.pool.Close() }

// TableName is a schema and a name.
type TableName struct{ Schema, Name string }

// Tables lists what the publication publishes.
func (s *Shard) Tables(ctx context.Context) ([]TableName, error) {
	rows, err := s.pool.Query(ctx, `SELECT schemaname, tablename FROM pg_publication_tables WHERE pubname = $1 ORDER BY 1, 2`, s.cfg.Publication)
	if err != nil {
		return nil, s.failed("listing the published tables", err)
	}
	tables, err := pgx.CollectRows(rows, pgx.RowToStructByPos[TableName])
	switch {
	case err != nil:
		return nil, s.failed("listing the published tables", err)
	case len(tables) == 0:
		return nil, fmt.Errorf("shard %s has no publication %s with tables: run the migrations in migrations/postgres/prejoin, then ALTER PUBLICATION %s ADD TABLE … for each table of a read model",
			s.cfg.Shard, s.cfg.Publication, s.cfg.Publication)
	}
	return tables, nil
}

// PrimaryKey returns the names of the columns of a table's primary key in its order; none if it has no such key or no longer exists.
func (s *Shard) PrimaryKey(ctx context.Context, table uint32) ([]string, error) {
	rows, err := s.pool.Query(ctx, `SELECT a.attname::text FROM pg_index i, unnest(i.indkey::int2[]) WITH ORDINALITY k (attnum, n), pg_attribute a
		WHERE i.indrelid = $1 AND i.indisprimary AND a.attrelid = i.indrelid AND a.attnum = k.attnum ORDER BY k.n`, table)
	if err != nil {
		return nil, s.failed("reading a primary key", err)
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	return names, s.failed("reading a primary key", err)
}

// Heartbeat writes to the heartbeat table, so that the slot of an idle shard moves on.
func (s *Shard) Heartbeat(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	_, err := s.pool.Exec(ctx, `INSERT INTO prejoin.heartbeat (id, at) VALUES (1, now()) ON CONFLICT (id) DO UPDATE SET at = now()`)
	return s.failed("writing the heartbeat", err)
}

func (s *Shard) failed(doing string, err error) error {
	if err == nil {
		return nil
	}
	next := ""
	switch state(err) {
	case "42501":
		next = "; GRANT the role prejoin_capture what migrations/postgres/prejoin grants"
	case "42P01", "3F000":
		next = "; run the migrations in migrations/postgres/prejoin"
	}
	if text, ok := unreachable(err); ok {
		return &said{fmt.Sprintf("%s of shard %s: %s", doing, s.cfg.Shard, text), err}
	}
	return fmt.Errorf("%s of shard %s: %w%s", doing, s.cfg.Shard, err, next)
}

// unreachable words the failure of a connection.
func unreachable(err error) (text string, ok bool) {
	switch state(err) {
	case "28P01", "28000":
		return "the login was refused; check the user and password of the shard's DSN, and pg_hba.conf", true
	case "3D000":
		return "there is no such database; check the database of the shard's DSN", true
	}
	var connect *pgconn.ConnectError
	if !errors.As(err, &connect) {
		return "", false
	}
	return fmt.Sprintf("%s:%d cannot be reached (%v); is the server running and is the address of the shard's DSN right",
		connect.Config.Host, connect.Config.Port, connect.Unwrap()), true
}
