package mongodb_test

import (
	"context"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/bson"

	"prejoin/pkg/mongodb"
	"prejoin/pkg/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

const (
	collection = "settlement_v1"
	shard      = "shard0"
)

// open gives a test a database of its own on a real replica set.
func open(t testing.TB) *mongodb.DB {
	t.Helper()
	uri, database := testenv.MongoDB(t)
	return openAt(t, uri, database)
}

func openAt(t testing.TB, uri, database string) *mongodb.DB {
	t.Helper()
	return openWith(t, mongodb.Config{URI: uri, Database: database})
}

func openWith(t testing.TB, cfg mongodb.Config) *mongodb.DB {
	t.Helper()
	db, err := mongodb.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := db.Close(ctx); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return db
}

func clock(t testing.TB, db *mongodb.DB) mongodb.Clock {
	t.Helper()
	c, err := db.SampleClock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func version(epoch, rank int64) mongodb.Version { return mongodb.Version{Epoch: epoch, Rank: rank} }

// row is a document as the projector stamps it: fields between _id and _p.
func row(t testing.TB, id any, from string, v mongodb.Version, fields ...bson.E) mongodb.Write {
	t.Helper()
	doc := append(bson.D{{Key: "_id", Value: id}}, fields...)
	doc = append(doc, bson.E{Key: "_p", Value: bson.D{
		{Key: "v", Value: bson.D{{Key: "e", Value: v.Epoch}, {Key: "r", Value: v.Rank}}},
		{Key: "s", Value: from}, {Key: "t", Value: time.Unix(v.Rank, 0)}}})
	raw, err := bson.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return mongodb.Write{ID: bson.Raw(raw).Lookup("_id"), Doc: raw}
}

func gone(t testing.TB, id any) mongodb.Write {
	t.Helper()
	w := row(t, id, "any", version(1, 1))
	w.Doc = nil
	return w
}

// apply writes one version of some rows and returns the outcomes.
func apply(t testing.TB, db *mongodb.DB, c mongodb.Clock, from string, v mongodb.Version, writes ...mongodb.Write) []mongodb.Outcome {
	t.Helper()
	outcomes, err := db.Apply(t.Context(), bulk(c, from, v, writes...))
	if err != nil {
		t.Fatalf("Apply: %v", err)
	}
	return outcomes
}

func bulk(c mongodb.Clock, from string, v mongodb.Version, writes ...mongodb.Write) mongodb.Bulk {
	return mongodb.Bulk{Collection: collection, Shard: from, Version: v, At: time.Unix(v.Rank, 0), Clock: c, Writes: writes}
}

func expect(t testing.TB, got []mongodb.Outcome, want ...mongodb.Outcome) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("outcomes %v, want %v", got, want)
	}
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("outcomes %v, want %v", got, want)
		}
	}
}

// stored is what the collection holds under that id; nil: nothing.
func stored(t testing.TB, db *mongodb.DB, id any) bson.Raw {
	t.Helper()
	raw, err := db.Raw().Collection(collection).FindOne(t.Context(), bson.D{{Key: "_id", Value: id}}).Raw()
	if err != nil {
		return nil
	}
	return raw
}

// isGone reports a tombstone whose time is a real date, so that TTL sees it.
func isGone(doc bson.Raw) bool {
	_, ok := doc.Lookup("_p", "del").TimeOK()
	return ok
}
