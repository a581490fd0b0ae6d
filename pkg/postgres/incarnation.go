package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"
)

// Identify makes sure that the shard has an incarnation row, and returns which
// life of which shard this is, and its rank now. The table is unlogged: a crash,
// a promotion and a base backup empty it, so that the next caller writes a new
// id; a clean restart keeps it.
func (s *Shard) Identify(ctx context.Context) (Identity, int64, error) {
	_, err := s.pool.Exec(ctx, `INSERT INTO prejoin.incarnation (id, system_identifier)
		SELECT gen_random_uuid(), system_identifier::text FROM pg_control_system() ON CONFLICT DO NOTHING`)
	if err != nil {
		return Identity{}, 0, s.identifyError(err)
	}
	var snapshot, id, rowSystem, system, walFile string
	err = s.pool.QueryRow(ctx, `SELECT pg_current_snapshot()::text, i.id::text, i.system_identifier::text, c.system_identifier::text, pg_walfile_name(pg_current_wal_lsn())
		FROM prejoin.incarnation i, pg_control_system() c`).Scan(&snapshot, &id, &rowSystem, &system, &walFile)
	if err != nil {
		return Identity{}, 0, s.identifyError(err)
	}
	xmin, xmax, running, err := parseSnapshot(snapshot)
	if err != nil {
		return Identity{}, 0, s.identifyError(err)
	}
	identity, err := identityOf([][]byte{[]byte(id), []byte(rowSystem), []byte(system), []byte(walFile)})
	return identity, Snapshot{XMin: xmin, XMax: xmax, InProgress: running}.Rank(), err
}

func (s *Shard) identifyError(err error) error {
	if pgErr, ok := errorAs[*pgconn.PgError](err); ok {
		switch pgErr.Code {
		case "3F000", "42P01": // no such schema, no such table
			return fmt.Errorf("shard %s has no prejoin.incarnation: apply migrations/postgres/prejoin to it (%w)", s.name, err)
		case "42501":
			return fmt.Errorf("shard %s does not let this user insert into prejoin.incarnation: grant SELECT, INSERT on it (%w)", s.name, err)
		}
	}
	return fmt.Errorf("reading the incarnation of shard %s: %w", s.name, err)
}
