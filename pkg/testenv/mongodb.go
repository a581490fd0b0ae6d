package testenv

import (
	"context"
	"os"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"

	"prejoin/pkg/devstack"
)

var ownMongo = sync.OnceValues(func() (*devstack.Stack, error) {
	return startOwn(devstack.Config{Mongo: true})
})

// MongoDB returns the URI of a replica set and the name of a database that no
// other test uses. It is dropped at the test's end.
func MongoDB(t testing.TB) (uri, database string) {
	t.Helper()
	uri = os.Getenv("MONGODB_URI")
	if uri == "" {
		s, err := ownMongo()
		if err != nil {
			t.Fatalf("testenv: %v", err)
		}
		uri = s.Mongo.URI()
	}
	database = Name(t)
	t.Cleanup(func() { dropMongo(t, uri, database) })
	return uri, database
}

// PrivateMongo starts a mongod for this test alone, which the test may kill, stop
// and restart.
func PrivateMongo(t testing.TB) *devstack.Mongo {
	t.Helper()
	return private(t, devstack.Config{Mongo: true}).Mongo
}

// private starts servers that end with the test.
func private(t testing.TB, c devstack.Config) *devstack.Stack {
	t.Helper()
	s, err := start(c)
	if err != nil {
		t.Fatalf("testenv: %v", err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Logf("testenv: %v", err)
		}
	})
	return s
}

func dropMongo(t testing.TB, uri, database string) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	c, err := mongo.Connect(ctx, options.Client().ApplyURI(uri))
	if err == nil {
		defer c.Disconnect(context.WithoutCancel(ctx))
		err = c.Database(database).Drop(ctx)
	}
	if err != nil {
		t.Logf("testenv: the database %s is left behind: %v", database, err)
	}
}
