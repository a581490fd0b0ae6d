package mongodb

import (
	"context"
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/x/mongo/driver/auth"
	"go.mongodb.org/mongo-driver/x/mongo/driver/topology"
)

// oldest is the oldest server that Prejoin is tested with.
const oldest = 6

// check asks the primary what it is.
func (db *DB) check(ctx context.Context) error {
	var hello struct {
		SetName string `bson:"setName"`
		Message string `bson:"msg"`
	}
	if err := db.w.RunCommand(ctx, bson.D{{Key: "hello", Value: 1}}).Decode(&hello); err != nil {
		return reached(err)
	}
	if hello.Message == "isdbgrid" {
		return errors.New("it is a sharded cluster's router, whose clock is not the shards'; connect to a replica set")
	}
	if hello.SetName == "" {
		return errors.New("it is a standalone server, which has no transactions and no majority; start mongod with --replSet rs0 and run rs.initiate() once")
	}
	return db.checkVersion(ctx)
}

func (db *DB) checkVersion(ctx context.Context) error {
	var build struct {
		Version string  `bson:"version"`
		Parts   []int32 `bson:"versionArray"`
	}
	if err := db.w.RunCommand(ctx, bson.D{{Key: "buildInfo", Value: 1}}).Decode(&build); err != nil {
		return reached(err)
	}
	if len(build.Parts) == 0 || build.Parts[0] < oldest {
		return fmt.Errorf("its version is %s, and Prejoin needs %d.0 or newer; upgrade it", build.Version, oldest)
	}
	return nil
}

// reached says in words why the server could not be asked.
func reached(err error) error {
	var denied *auth.Error
	if errors.As(err, &denied) {
		return fmt.Errorf("it refused the login (%w); check user, password and authSource in the URI", denied)
	}
	var selection topology.ServerSelectionError
	if errors.As(err, &selection) {
		for _, server := range selection.Desc.Servers {
			if server.LastError != nil {
				return fmt.Errorf("no primary answers within %v (%s: %w); check that mongod runs there and that the replica set has a primary",
					startTimeout, server.Addr, server.LastError)
			}
		}
		return fmt.Errorf("no primary answers within %v; check the host and the replicaSet name in the URI, and that rs.initiate() was run", startTimeout)
	}
	return fmt.Errorf("it did not answer (%w); check that mongod runs there and is reachable", err)
}

// Ping asks the primary whether it answers; it is a readiness check.
func (db *DB) Ping(ctx context.Context) error {
	err := db.w.RunCommand(ctx, bson.D{{Key: "ping", Value: 1}}).Err()
	return classify(ctx, "pinging MongoDB", err)
}
