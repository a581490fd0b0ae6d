package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"
)

// Identify makes sure that the shard has an incarnation row, and returns which
// life of which shard this is. The table is unlogged: a crash, a promotion and
// a base backup empty it, so that the next caller writes a new id; a clean
// restart keeps it.
func (s *Shard) Identify(ctx context.Context) (Identity, error) {
	_, err := s.pool.Exec(ctx, `INSERT INTO prejoin.incarnation (id, system_identifier)
		SELECT gen_random_uuid(), system_identifier::text FROM pg_control_system() ON CONFLICT DO NOTHING`)
	if err != nil {
		return Identity{}, s.identifyError(err)
	}
	id := Identity{}
	var walFile string
	err = s.pool.QueryRow(ctx, `SELECT i.id::text, i.system_identifier::text, c.system_identifier::text, pg_walfile_name(pg_current_wal_lsn())
		FROM prejoin.incarnation i, pg_control_system() c`).Scan(&id.Incarnation, &id.RowSystem, &id.SystemIdentifier, &walFile)
	if err != nil {
		return Identity{}, s.identifyError(err)
	}
	return identityOf([][]byte{[]byte(id.Incarnation), []byte(id.RowSystem), []byte(id.SystemIdentifier), []byte(walFile)})
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
