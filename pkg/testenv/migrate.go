package testenv

import (
	"context"
	"database/sql"
	"io/fs"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"prejoin/migrations"
)

// up runs the migrations as sample.Migrate does, which cannot be called here: the
// tests inside pkg/sample import this package.
func up(ctx context.Context, dsn string, shard int) error {
	cfg, err := pgx.ParseConfig(dsn)
	if err != nil {
		return err
	}
	cfg.RuntimeParams["prejoin.shard"] = strconv.Itoa(shard)
	db := stdlib.OpenDB(*cfg)
	defer db.Close()
	if err := upPart(ctx, db, migrations.Prejoin(), "public.prejoin_goose"); err != nil {
		return err
	}
	return upPart(ctx, db, migrations.Sample(), "public.sample_goose")
}

func upPart(ctx context.Context, db *sql.DB, files fs.FS, table string) error {
	p, err := goose.NewProvider(goose.DialectPostgres, db, files,
		goose.WithTableName(table), goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return err
	}
	_, err = p.Up(ctx)
	return err
}
