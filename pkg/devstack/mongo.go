package devstack

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"
)

const replicaSet = "prejoin"

// Mongo is a one-node replica set: transactions, majority, snapshots, change
// streams and TTL all work on it. Without a password: it listens on loopback.
type Mongo struct {
	Port int
	Log  string // path of its log
	bin  string
	data string
	proc *Process
}

// StartMongo starts a replica set with its data in dir/name and waits until it
// takes writes.
func StartMongo(ctx context.Context, bin, dir, name string) (*Mongo, error) {
	m := &Mongo{bin: bin, data: filepath.Join(dir, name), Log: filepath.Join(dir, name+".log")}
	if err := os.Mkdir(m.data, 0o700); err != nil {
		return nil, fmt.Errorf("making MongoDB's data folder: %w", err)
	}
	err := anyPort(func(port int) error {
		m.Port = port
		return m.launch(ctx)
	})
	if err == nil {
		err = m.initiate(ctx)
	}
	if err != nil {
		m.Kill()
		return nil, fmt.Errorf("starting MongoDB: %w", err)
	}
	return m, nil
}

// URI connects to the replica set.
func (m *Mongo) URI() string {
	return fmt.Sprintf("mongodb://127.0.0.1:%d/?replicaSet=%s", m.Port, replicaSet)
}

// Process is the running mongod.
func (m *Mongo) Process() *Process { return m.proc }

// Kill ends mongod by SIGKILL: a crash. Its data stays.
func (m *Mongo) Kill() {
	if m.proc != nil {
		m.proc.Kill()
	}
}

// Stop ends mongod cleanly. Its data stays.
func (m *Mongo) Stop(ctx context.Context) error { return m.proc.Stop(ctx, syscall.SIGTERM) }

// Restart starts mongod again on the same port and data, after Kill or Stop,
// and waits until it takes writes.
func (m *Mongo) Restart(ctx context.Context) error {
	if !m.proc.Ended() {
		return fmt.Errorf("restarting MongoDB: it still runs; Stop or Kill it first")
	}
	if err := m.launch(ctx); err != nil {
		return fmt.Errorf("restarting MongoDB: %w", err)
	}
	if err := m.awaitPrimary(ctx); err != nil {
		m.Kill()
		return fmt.Errorf("restarting MongoDB: %w", err)
	}
	return nil
}

func (m *Mongo) launch(ctx context.Context) (err error) {
	m.proc, err = Launch(Command{Name: "mongod", Path: m.bin, Log: m.Log, Args: []string{
		"--dbpath", m.data, "--port", strconv.Itoa(m.Port), "--bind_ip", "127.0.0.1",
		"--replSet", replicaSet, "--nounixsocket", "--oplogSize", "1024",
		// At most; by default it would take half of the machine's memory. With half
		// a gigabyte the backfill of 200,000 documents cost a fourth more CPU.
		"--wiredTigerCacheSizeGB", "1",
		"--setParameter", "diagnosticDataCollectionEnabled=false",
	}})
	if err != nil {
		return err
	}
	return listening(ctx, m.proc, m.Port)
}

// client connects to this node alone, primary or not.
func (m *Mongo) client(ctx context.Context) (*mongo.Client, error) {
	return mongo.Connect(ctx, options.Client().
		ApplyURI(fmt.Sprintf("mongodb://127.0.0.1:%d/", m.Port)).
		SetDirect(true).SetServerSelectionTimeout(2*time.Second))
}

func (m *Mongo) initiate(ctx context.Context) error {
	c, err := m.client(ctx)
	if err != nil {
		return err
	}
	defer c.Disconnect(context.WithoutCancel(ctx))
	config := bson.D{{Key: "_id", Value: replicaSet}, {Key: "members", Value: bson.A{
		bson.D{{Key: "_id", Value: 0}, {Key: "host", Value: fmt.Sprintf("127.0.0.1:%d", m.Port)}},
	}}}
	if err := c.Database("admin").RunCommand(ctx, bson.D{{Key: "replSetInitiate", Value: config}}).Err(); err != nil {
		return fmt.Errorf("initiating the replica set: %w", err)
	}
	return m.awaitPrimary(ctx)
}

func (m *Mongo) awaitPrimary(ctx context.Context) error {
	c, err := m.client(ctx)
	if err != nil {
		return err
	}
	defer c.Disconnect(context.WithoutCancel(ctx))
	for {
		var hello struct {
			Primary bool `bson:"isWritablePrimary"`
		}
		err := c.Database("admin").RunCommand(ctx, bson.D{{Key: "hello", Value: 1}}).Decode(&hello)
		if err == nil && hello.Primary {
			return nil
		}
		if !m.proc.pause(ctx, 20*time.Millisecond) {
			return unready(ctx, m.proc, err)
		}
	}
}
