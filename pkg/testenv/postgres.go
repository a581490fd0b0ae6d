package testenv

import (
	"context"
	"fmt"
	"testing"
	"time"

	"prejoin/pkg/devstack"
)

// Shard is a database that plays one shard.
type Shard struct {
	Name         string // shard0, shard1: what topics and documents carry
	DSN          string // as the owner, who may do all
	ProjectorDSN string // as prejoin_projector; empty schema: no such role
	CaptureDSN   string // as prejoin_capture
	Database     string
	Slot         string // a replication slot name that no other test uses
}

// Postgres returns a fresh shard0 with the sample schema and no rows.
func Postgres(t testing.TB) Shard {
	t.Helper()
	return fresh(t, 0, true)
}

// Shards returns two fresh shards with the sample schema and no rows. They are in
// two clusters, as shards are: ids, ranks and system identifiers differ.
func Shards(t testing.TB) []Shard {
	t.Helper()
	return []Shard{fresh(t, 0, true), fresh(t, 1, true)}
}

// EmptyPostgres returns a fresh database without schema or roles.
func EmptyPostgres(t testing.TB) Shard {
	t.Helper()
	return fresh(t, 0, false)
}

// PrivatePostgres starts a cluster for this test alone, which the test may
// crash, stop and restart. Its database shard0 has the sample schema. As is the
// Shard to hand to code under test.
func PrivatePostgres(t testing.TB) *devstack.Postgres {
	t.Helper()
	s := private(t, devstack.Config{Shards: 1})
	p := s.Shards[0]
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := migrate(ctx, p.DSN("postgres"), p.Name, 0); err != nil {
		t.Fatalf("testenv: migrating a private cluster: %v", err)
	}
	return p
}

// As describes a private cluster's database as a Shard.
func As(t testing.TB, p *devstack.Postgres) Shard {
	t.Helper()
	return describe(t, p.DSN("postgres"), p.Name, 0)
}

func fresh(t testing.TB, index int, schema bool) Shard {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	admin, err := cluster(index)
	if err != nil {
		t.Fatalf("testenv: %v", err)
	}
	from := "template1"
	if schema {
		if from, err = template(ctx, admin, index); err != nil {
			t.Fatalf("testenv: making the template of shard%d: %v", index, err)
		}
	}
	name := Name(t)
	if err := create(ctx, admin, name, from); err != nil {
		t.Fatalf("testenv: %v", err)
	}
	t.Cleanup(func() { drop(t, admin, name) })
	return describe(t, admin, name, index)
}

func describe(t testing.TB, admin, database string, index int) Shard {
	t.Helper()
	return Shard{
		Name: fmt.Sprintf("shard%d", index), Database: database, Slot: Name(t),
		DSN:          as(t, admin, "", database),
		ProjectorDSN: as(t, admin, "prejoin_projector", database),
		CaptureDSN:   as(t, admin, "prejoin_capture", database),
	}
}
