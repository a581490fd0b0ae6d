package sample

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"prejoin/migrations"
)

// MaxShards is how many shards the interleaved sequences have room for.
const MaxShards = 64

// Migrate brings one shard's database up to date: first what Prejoin needs there,
// then the sample's tables. shard is its index, shards their number (at most
// MaxShards). The dsn's role must be allowed to create roles and publications.
// Running it again does nothing; two at the same time wait for each other.
func Migrate(ctx context.Context, dsn string, shard, shards int) error {
	if shards < 1 || shards > MaxShards || shard < 0 || shard >= shards {
		return fmt.Errorf("shard %d of %d cannot be: use 1 to %d shards, counted from 0", shard, shards, MaxShards)
	}
	db, err := openShard(dsn, shard)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	if _, err := db.ExecContext(ctx, "SELECT"); err != nil {
		return fmt.Errorf("connecting to shard %d to migrate it: %w; is the server up and the DSN right?", shard, err)
	}
	if err := migratePart(ctx, db, migrations.Prejoin(), "public.prejoin_goose"); err != nil {
		return fmt.Errorf("migrating the schema prejoin of shard %d: %w", shard, err)
	}
	if err := migratePart(ctx, db, migrations.Sample(), "public.sample_goose"); err != nil {
		return fmt.Errorf("migrating the sample schema of shard %d: %w", shard, err)
	}
	return nil
}

// openShard tells the session which shard it is on: the sequences' start needs it.
func openShard(dsn string, shard int) (*sql.DB, error) {
	cfg, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, fmt.Errorf("reading the DSN of shard %d: %w", shard, err)
	}
	cfg.RuntimeParams["prejoin.shard"] = strconv.Itoa(shard)
	return stdlib.OpenDB(*cfg), nil
}

func migratePart(ctx context.Context, db *sql.DB, files fs.FS, table string) error {
	locker, err := lock.NewPostgresSessionLocker()
	if err != nil {
		return err
	}
	provider, err := goose.NewProvider(goose.DialectPostgres, db, files,
		goose.WithTableName(table), goose.WithSessionLocker(locker), goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return err
	}
	_, err = provider.Up(ctx)
	return err
}
