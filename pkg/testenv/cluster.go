package testenv

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"prejoin/pkg/devstack"
)

var ownShards = sync.OnceValues(func() (*devstack.Stack, error) {
	return startOwn(devstack.Config{Shards: 2})
})

// cluster is the owner's DSN of the database postgres in the cluster of a shard.
func cluster(index int) (string, error) {
	if dsn := os.Getenv(fmt.Sprintf("SHARD%d_DSN", index)); dsn != "" {
		return in(dsn, "", "postgres")
	}
	s, err := ownShards()
	if err != nil {
		return "", err
	}
	return s.Shards[index].DSN("postgres"), nil
}

// in is dsn for another database and, unless role is "", another role, whose
// password derives from the owner's.
func in(dsn, role, database string) (string, error) {
	u, err := url.Parse(dsn)
	if err != nil || u.User == nil {
		return "", fmt.Errorf("reading SHARDn_DSN: tests need the form postgres://owner:password@host:port/database")
	}
	u.Path = "/" + database
	if role != "" {
		password, _ := u.User.Password()
		u.User = url.UserPassword(role, devstack.RolePassword(password, role))
	}
	return u.String(), nil
}

func as(t testing.TB, admin, role, database string) string {
	t.Helper()
	dsn, err := in(admin, role, database)
	if err != nil {
		t.Fatalf("testenv: %v", err)
	}
	return dsn
}

// do runs statements on a connection of its own.
func do(ctx context.Context, dsn string, statements ...string) error {
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	for _, sql := range statements {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return err
		}
	}
	return nil
}

func create(ctx context.Context, admin, name, from string) error {
	err := do(ctx, admin, fmt.Sprintf("CREATE DATABASE %s TEMPLATE %s", pgx.Identifier{name}.Sanitize(), pgx.Identifier{from}.Sanitize()))
	if err != nil {
		return fmt.Errorf("creating the database %s: %w", name, err)
	}
	return nil
}

// drop ends what still uses a test's database and drops it with its slots. An
// active slot would refuse the drop.
func drop(t testing.TB, admin, name string) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	end := fmt.Sprintf("SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots WHERE database = '%s' AND active", name)
	var err error
	for range 20 {
		err = do(ctx, admin, end, fmt.Sprintf("DROP DATABASE IF EXISTS %s WITH (FORCE)", pgx.Identifier{name}.Sanitize()))
		if err == nil {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Logf("testenv: the database %s is left behind: %v", name, err)
}
