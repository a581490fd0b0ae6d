package postgres

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Inspect asks the shard about statements and tables ("schema.name"). Each
// statement is described and planned, never run. A statement that the server
// refuses is a fact (Inspected.Error); an error is only what kept the question
// from being asked.
func (s *Shard) Inspect(ctx context.Context, publication string, statements, tables []string) (*Inspection, error) {
	ctx, cancel := context.WithTimeout(ctx, s.readTimeout)
	defer cancel()
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return nil, fmt.Errorf("connecting to shard %s: %w", s.name, err)
	}
	defer conn.Release()
	in := &inspector{ctx: ctx, conn: conn.Conn(), publication: publication, lock: s.lockTimeout.Milliseconds()}
	result, err := in.run(statements, tables)
	if err != nil {
		return nil, fmt.Errorf("inspecting shard %s: %w", s.name, err)
	}
	result.Shard = s.name
	return result, nil
}

type inspector struct {
	ctx         context.Context
	conn        *pgx.Conn
	publication string
	lock        int64 // milliseconds
}

func (in *inspector) run(statements, tables []string) (*Inspection, error) {
	result := &Inspection{Statements: make([]Inspected, len(statements))}
	if err := in.conn.QueryRow(in.ctx, "SHOW server_version").Scan(&result.Version); err != nil {
		return nil, err
	}
	wanted := map[string]bool{}
	for _, t := range tables {
		wanted[t] = true
	}
	for i, sql := range statements {
		if err := in.statement(sql, &result.Statements[i]); err != nil {
			return nil, err
		}
		for _, r := range result.Statements[i].Relations {
			wanted[r] = true
		}
	}
	err := in.transaction(func() (err error) {
		if result.Publication, err = in.published(); err != nil {
			return err
		}
		result.Relations, err = in.relations(slices.Sorted(maps.Keys(wanted)))
		return err
	})
	return result, err
}

// transaction runs do in a read-only transaction that changes nothing.
func (in *inspector) transaction(do func() error) error {
	for _, sql := range []string{"BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY", "SET LOCAL row_security = off", fmt.Sprintf("SET LOCAL lock_timeout = %d", in.lock)} {
		if _, err := in.conn.Exec(in.ctx, sql); err != nil {
			return errors.Join(err, in.rollback())
		}
	}
	return errors.Join(do(), in.rollback())
}

func (in *inspector) rollback() error {
	if in.conn.IsClosed() {
		return nil
	}
	_, err := in.conn.Exec(in.ctx, "ROLLBACK")
	return err
}

// statement describes and plans one text in a transaction of its own, so that
// the locks found are its own.
func (in *inspector) statement(sql string, out *Inspected) error {
	err := in.transaction(func() error {
		if err := in.describe(sql, out); err != nil {
			return err
		}
		return in.explain(sql, out)
	})
	var refused *pgconn.PgError
	if errors.As(err, &refused) && !Temporary(err) {
		*out = Inspected{Error: sentence(refused), Code: refused.Code}
		return nil
	}
	return err
}

func sentence(e *pgconn.PgError) string {
	text := e.Message
	if e.Detail != "" {
		text += "; " + e.Detail
	}
	if e.Hint != "" {
		text += "; " + e.Hint
	}
	return fmt.Sprintf("%s (SQLSTATE %s)", text, e.Code)
}
