package sample

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// foreignKey is a constraint as the catalog tells it, so that the migrations stay
// the only place that defines it.
type foreignKey struct{ Table, Name, Definition string }

// dropForeignKeys takes the sample's foreign keys off for the load. Checked row
// by row they cost 18 s of CPU for 1.1 million rows; added again after the load
// (addForeignKeys, in the same transaction) PostgreSQL checks them with one join each.
func dropForeignKeys(ctx context.Context, conn *pgx.Conn) ([]foreignKey, error) {
	rows, err := conn.Query(ctx, `
		SELECT quote_ident(c.relname), quote_ident(conname), pg_get_constraintdef(k.oid)
		FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid
		WHERE contype = 'f' AND conrelid IN ('merchant'::regclass, 'orders'::regclass, 'payment'::regclass, 'settlement'::regclass, 'settlement_line'::regclass)
		ORDER BY k.oid`)
	if err != nil {
		return nil, fmt.Errorf("listing foreign keys: %w", err)
	}
	keys, err := pgx.CollectRows(rows, pgx.RowToStructByPos[foreignKey])
	if err != nil {
		return nil, fmt.Errorf("listing foreign keys: %w", err)
	}
	for _, k := range keys {
		if _, err := conn.Exec(ctx, fmt.Sprintf("ALTER TABLE %s DROP CONSTRAINT %s", k.Table, k.Name)); err != nil {
			return nil, fmt.Errorf("dropping the foreign key %s for the load: %w; seed as the tables' owner", k.Name, err)
		}
	}
	return keys, nil
}

func addForeignKeys(ctx context.Context, conn *pgx.Conn, keys []foreignKey) error {
	for _, k := range keys {
		if _, err := conn.Exec(ctx, fmt.Sprintf("ALTER TABLE %s ADD CONSTRAINT %s %s", k.Table, k.Name, k.Definition)); err != nil {
			return fmt.Errorf("adding the foreign key %s after the load: %w", k.Name, err)
		}
	}
	return nil
}
