package devstack

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// Owner is the superuser of each cluster.
const Owner = "postgres"

// settings make a cluster that captures changes and crashes truly: fsync and
// full_page_writes stay on. There is no Unix socket: its path could be too long.
const settings = `
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
wal_level = logical
max_prepared_transactions = 16
max_replication_slots = 32
max_wal_senders = 32
max_connections = 200
shared_buffers = 256MB
max_wal_size = 4GB
checkpoint_timeout = 15min
timezone = 'UTC'
log_timezone = 'UTC'
`

// Postgres is one cluster of one shard.
type Postgres struct {
	Name     string // also the name of its database
	Port     int
	Log      string // path of its log
	Password string // of Owner
	bin      string
	data     string
	account  *Account
	proc     *Process
}

// StartPostgres makes a cluster with its data in dir/name and a database called
// name in it, and waits until it takes connections.
func StartPostgres(ctx context.Context, bin, dir, name string) (*Postgres, error) {
	p := &Postgres{Name: name, Password: Secret(), bin: bin, data: filepath.Join(dir, name), Log: filepath.Join(dir, name+".log")}
	if err := p.start(ctx); err != nil {
		p.Crash()
		return nil, fmt.Errorf("starting PostgreSQL as %s: %w", name, err)
	}
	return p, nil
}

func (p *Postgres) start(ctx context.Context) (err error) {
	if p.account, err = unprivileged(); err != nil {
		return err
	}
	if err := p.initdb(ctx); err != nil {
		return err
	}
	err = anyPort(func(port int) error {
		p.Port = port
		return p.launch(ctx)
	})
	if err != nil {
		return err
	}
	return p.Exec(ctx, "postgres", "CREATE DATABASE "+pgx.Identifier{p.Name}.Sanitize())
}

func (p *Postgres) initdb(ctx context.Context) error {
	if err := os.Mkdir(p.data, 0o700); err != nil {
		return err
	}
	secret := p.data + ".password"
	defer os.Remove(secret)
	if err := os.WriteFile(secret, []byte(p.Password+"\n"), 0o600); err != nil {
		return err
	}
	for _, path := range []string{p.data, secret} {
		if err := p.account.own(path); err != nil {
			return fmt.Errorf("handing %s to the unprivileged user: %w", path, err)
		}
	}
	proc, err := Launch(Command{Name: "initdb", Path: filepath.Join(p.bin, "initdb"), Log: p.Log, Account: p.account, Args: []string{
		"-D", p.data, "-U", Owner, "-E", "UTF8", "--locale=C.UTF-8", "-A", "scram-sha-256", "--pwfile", secret, "--no-sync", "--no-instructions",
	}})
	if err != nil {
		return err
	}
	defer proc.Kill()
	return p.configure(ctx, proc)
}

// configure waits for initdb and adds the settings.
func (p *Postgres) configure(ctx context.Context, initdb *Process) error {
	select {
	case <-initdb.Done():
	case <-ctx.Done():
		return fmt.Errorf("waiting for initdb: %w", context.Cause(ctx))
	}
	if initdb.Status() != 0 {
		return initdb.Died()
	}
	f, err := os.OpenFile(filepath.Join(p.data, "postgresql.conf"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteString(settings)
	return err
}

func (p *Postgres) launch(ctx context.Context) (err error) {
	p.proc, err = Launch(Command{
		Name: "postgres " + p.Name, Path: filepath.Join(p.bin, "postgres"), Log: p.Log, Account: p.account,
		Args: []string{"-D", p.data, "-p", strconv.Itoa(p.Port)},
		// SIGQUIT, not SIGKILL: the postmaster then takes its backends with it at
		// once and gives its shared memory back, and writes nothing more.
		Orphan: syscall.SIGQUIT,
	})
	if err != nil {
		return err
	}
	return p.awaitReady(ctx)
}

func (p *Postgres) awaitReady(ctx context.Context) error {
	for {
		err := p.Exec(ctx, "postgres", "SELECT 1")
		if err == nil {
			return nil
		}
		if !p.proc.pause(ctx, 30*time.Millisecond) {
			return unready(ctx, p.proc, err)
		}
	}
}

// DSN connects the superuser to a database of the cluster.
func (p *Postgres) DSN(database string) string { return p.DSNAs(Owner, p.Password, database) }

// DSNAs connects a role to a database of the cluster.
func (p *Postgres) DSNAs(role, password, database string) string {
	u := url.URL{Scheme: "postgres", User: url.UserPassword(role, password),
		Host: fmt.Sprintf("127.0.0.1:%d", p.Port), Path: "/" + database, RawQuery: "sslmode=disable"}
	return u.String()
}

// Exec runs statements without parameters as the superuser on a connection of
// its own.
func (p *Postgres) Exec(ctx context.Context, database string, statements ...string) error {
	conn, err := pgx.Connect(ctx, p.DSN(database))
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	for _, sql := range statements {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return fmt.Errorf("running %q: %w", first(sql), err)
		}
	}
	return nil
}

// first is the beginning of a statement, which holds no password.
func first(sql string) string {
	words := strings.Fields(sql)
	return strings.Join(words[:min(3, len(words))], " ")
}
