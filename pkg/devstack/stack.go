package devstack

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
)

// DefaultDatabase is the MongoDB database that Prejoin uses unless told.
const DefaultDatabase = "prejoin"

// Config says what a stack holds.
type Config struct {
	Shards int      // PostgreSQL clusters, named shard0, shard1, …
	Mongo  bool     // a MongoDB replica set
	Kafka  bool     // a kfake broker
	Say    Progress // nil: silent
}

// Stack is a set of servers that start and end together. Stop ends it; if this
// process dies without, the kernel ends it.
type Stack struct {
	Folder *Folder
	Shards []*Postgres
	Mongo  *Mongo
	Kafka  *Kafka
}

// Start finds or fetches the servers and starts them side by side. When one of
// them fails nothing is left running.
func Start(ctx context.Context, c Config) (*Stack, error) {
	folder, err := NewFolder()
	if err != nil {
		return nil, err
	}
	s := &Stack{Folder: folder, Shards: make([]*Postgres, c.Shards)}
	if err := s.start(ctx, c); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

func (s *Stack) start(ctx context.Context, c Config) error {
	g, ctx := errgroup.WithContext(ctx)
	if c.Shards > 0 {
		g.Go(func() error { return s.startShards(ctx, c.Say) })
	}
	if c.Mongo {
		g.Go(func() error { return s.startMongo(ctx, c.Say) })
	}
	if c.Kafka {
		g.Go(func() (err error) { s.Kafka, err = StartKafka(); return err })
	}
	return g.Wait()
}

func (s *Stack) startShards(ctx context.Context, say Progress) error {
	bin, err := FindPostgreSQL(ctx, say)
	if err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	for i := range s.Shards {
		g.Go(func() (err error) {
			s.Shards[i], err = StartPostgres(ctx, bin, s.Folder.Path, fmt.Sprintf("shard%d", i))
			return err
		})
	}
	return g.Wait()
}

func (s *Stack) startMongo(ctx context.Context, say Progress) error {
	bin, err := FindMongod(ctx, say)
	if err != nil {
		return err
	}
	s.Mongo, err = StartMongo(ctx, bin, s.Folder.Path, "mongo")
	return err
}

// Stop ends all servers at once and removes the folder: nothing is kept.
func (s *Stack) Stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	var g errgroup.Group
	for _, p := range s.Shards {
		if p != nil {
			g.Go(func() error { p.discard(ctx); return nil })
		}
	}
	if s.Mongo != nil {
		g.Go(func() error { s.Mongo.Kill(); return nil })
	}
	if s.Kafka != nil {
		s.Kafka.Close()
	}
	_ = g.Wait()
	return s.Folder.Remove()
}

// Env is the environment that points programs at the servers, NAME=value each.
// The DSNs are the owner's.
func (s *Stack) Env() []string {
	var env []string
	for i, p := range s.Shards {
		env = append(env, fmt.Sprintf("SHARD%d_DSN=%s", i, p.DSN(p.Name)))
	}
	if s.Kafka != nil {
		env = append(env, "KAFKA_BROKERS="+strings.Join(s.Kafka.Brokers(), ","))
	}
	if s.Mongo != nil {
		env = append(env, "MONGODB_URI="+s.Mongo.URI(), "MONGODB_DB="+DefaultDatabase)
	}
	return env
}
