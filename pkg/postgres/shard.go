package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Config says how to reach one shard.
type Config struct {
	Name        string        // as in topics and documents
	DSN         string        // URL or keywords; never printed
	MaxConns    int32         // connections at most; default 4
	ReadTimeout time.Duration // one batch at most; default 60 s
	AppName     string        // application_name; default prejoin
}

// Shard is a pool of connections to one shard. Its methods may be called by
// many goroutines at once.
type Shard struct {
	name        string
	pool        *pgxpool.Pool
	readTimeout time.Duration
	lockTimeout time.Duration
}

// Open connects to the shard and reads what the reads need of its settings.
// It fails at once where the shard cannot be reached or is a standby.
func Open(ctx context.Context, cfg Config) (*Shard, error) {
	pc, err := poolConfig(cfg)
	if err != nil {
		return nil, err
	}
	pool, err := pgxpool.NewWithConfig(ctx, pc)
	if err != nil {
		return nil, fmt.Errorf("connecting to shard %s: %w", cfg.Name, err)
	}
	s := &Shard{name: cfg.Name, pool: pool, readTimeout: cmp.Or(cfg.ReadTimeout, time.Minute)}
	if err := s.inspect(ctx); err != nil {
		pool.Close()
		return nil, err
	}
	return s, nil
}

func poolConfig(cfg Config) (*pgxpool.Config, error) {
	pc, err := pgxpool.ParseConfig(cfg.DSN)
	if err != nil || !dsnForm.MatchString(cfg.DSN) { // pgx's error repeats the DSN with its password masked; ours repeats nothing
		return nil, fmt.Errorf("shard %s has a DSN that cannot be parsed: write postgres://USER:PASSWORD@HOST:PORT/DATABASE", cfg.Name)
	}
	pc.MaxConns = cmp.Or(cfg.MaxConns, 4)
	pc.ConnConfig.ConnectTimeout = 5 * time.Second
	pc.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec // no named statement: poolers
	pc.ConnConfig.RuntimeParams["application_name"] = cmp.Or(cfg.AppName, "prejoin")
	return pc, nil
}

// dsnForm is a URL or keywords. Anything else, such as a URL without its //, pgx
// would take for keywords, and ask whatever server stands on this machine.
var dsnForm = regexp.MustCompile(`^(postgres(ql)?://|\s*[a-z_]+\s*=)`)

// Name is the shard's name.
func (s *Shard) Name() string { return s.name }

// Close closes all connections.
func (s *Shard) Close() { s.pool.Close() }

// Ping asks the shard for a sign of life.
func (s *Shard) Ping(ctx context.Context) error {
	if err := s.pool.Ping(ctx); err != nil {
		return unreachable(s.name, err)
	}
	return nil
}

func (s *Shard) inspect(ctx context.Context) error {
	var standby bool
	var deadlock int
	err := s.pool.QueryRow(ctx, `SELECT pg_is_in_recovery(), (SELECT setting::int FROM pg_settings WHERE name = 'deadlock_timeout')`).Scan(&standby, &deadlock)
	if err != nil {
		return unreachable(s.name, err)
	}
	if standby {
		return fmt.Errorf("shard %s is a standby: give the DSN of its primary", s.name)
	}
	// At half of deadlock_timeout (milliseconds) a waiting batch steps back before the
	// server looks for deadlocks and kills the migration that it is in the way of.
	s.lockTimeout = time.Duration(max(deadlock/2, 1)) * time.Millisecond
	return nil
}

// unreachable says why without the names of the user and the database, which the server and pgx repeat: of a DSN that is
// written wrongly they may be the password.
func unreachable(shard string, err error) error {
	var pgErr *pgconn.PgError
	switch {
	case !errors.As(err, &pgErr):
	case strings.HasPrefix(pgErr.Code, "28"):
		return fmt.Errorf("shard %s refused the login (SQLSTATE %s); check the DSN's user and password, and pg_hba.conf", shard, pgErr.Code)
	case strings.HasPrefix(pgErr.Code, "3D"):
		return fmt.Errorf("shard %s has no such database (SQLSTATE %s); check the DSN's database", shard, pgErr.Code)
	default:
		return fmt.Errorf("shard %s refused: %s (SQLSTATE %s); check the DSN's user, password and database", shard, pgErr.Message, pgErr.Code)
	}
	var connectErr *pgconn.ConnectError
	if errors.As(err, &connectErr) {
		c := connectErr.Config
		return fmt.Errorf("shard %s cannot be reached at %s:%s: is PostgreSQL running there, and is the DSN right? (%w)", shard, c.Host, strconv.Itoa(int(c.Port)), connectErr.Unwrap())
	}
	return fmt.Errorf("asking shard %s for its settings: %w", shard, err)
}
