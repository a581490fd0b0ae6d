package testenv

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"

	"github.com/jackc/pgx/v5"

	"prejoin/migrations"
	"prejoin/pkg/devstack"
)

// template returns the name of a database with the sample schema in the
// cluster, made by whichever test of whichever binary comes first. The name
// carries the migrations' hash: other migrations, another template.
func template(ctx context.Context, admin string, index int) (string, error) {
	sum, err := migrationsSum()
	if err != nil {
		return "", err
	}
	name := "template_" + sum
	conn, err := pgx.Connect(ctx, admin)
	if err != nil {
		return "", err
	}
	// Closing the connection gives the advisory lock back.
	defer conn.Close(context.WithoutCancel(ctx))
	if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock(hashtext('testenv'))"); err != nil {
		return "", err
	}
	var there bool
	err = conn.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)", name).Scan(&there)
	if err != nil || there {
		return name, err
	}
	return name, makeTemplate(ctx, conn, admin, name, index)
}

// makeTemplate gives the database its name last, so that a half-made one is
// never taken.
func makeTemplate(ctx context.Context, conn *pgx.Conn, admin, name string, index int) error {
	half := name + "_half"
	for _, sql := range []string{"DROP DATABASE IF EXISTS " + half + " WITH (FORCE)", "CREATE DATABASE " + half} {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return err
		}
	}
	if err := migrate(ctx, admin, half, index); err != nil {
		return err
	}
	_, err := conn.Exec(ctx, fmt.Sprintf("ALTER DATABASE %s RENAME TO %s", half, name))
	return err
}

// migrate gives a database the sample schema, and Prejoin's roles their passwords.
func migrate(ctx context.Context, admin, database string, index int) error {
	dsn, err := in(admin, "", database)
	if err != nil {
		return err
	}
	if err := up(ctx, dsn, index); err != nil {
		return err
	}
	return devstack.SetRolePasswords(ctx, dsn)
}

func migrationsSum() (string, error) {
	h := sha256.New()
	for _, files := range []fs.FS{migrations.Prejoin(), migrations.Sample()} {
		names, err := fs.Glob(files, "*.sql")
		if err != nil {
			return "", err
		}
		for _, name := range names {
			text, err := fs.ReadFile(files, name)
			if err != nil {
				return "", err
			}
			fmt.Fprintf(h, "%s %d\n%s", name, len(text), text)
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:6]), nil
}
