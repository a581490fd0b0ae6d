package mongodb_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/bson"

	"prejoin/pkg/mongodb"
)

func all(t testing.TB, db *mongodb.DB, f mongodb.Find) []bson.Raw {
	t.Helper()
	cursor, err := db.Find(t.Context(), f)
	if err != nil {
		t.Error(err)
		return nil
	}
	defer cursor.Close()
	return drain(t, cursor)
}

// drain copies all that is left.
func drain(t testing.TB, cursor *mongodb.Cursor) (docs []bson.Raw) {
	t.Helper()
	for {
		batch, err := cursor.Next(t.Context())
		if errors.Is(err, io.EOF) {
			return docs
		}
		if err != nil {
			t.Error(err)
			return docs
		}
		for _, doc := range batch {
			docs = append(docs, append(bson.Raw(nil), doc...))
		}
	}
}

func fill(t testing.TB, db *mongodb.DB, n int) {
	t.Helper()
	docs := make([]bson.Raw, n)
	for i := range docs {
		docs[i] = row(t, int64(i), shard, version(1, 5), bson.E{Key: "name", Value: fmt.Sprint("row ", i)}).Doc
	}
	if duplicates, err := db.Insert(t.Context(), collection, docs); err != nil || len(duplicates) > 0 {
		t.Fatal(duplicates, err)
	}
}

var byID = bson.D{{Key: "_id", Value: 1}}

func TestBatchStaysWholeWhileTheNextIsFetched(t *testing.T) {
	db := open(t)
	fill(t, db, 1050)
	cursor, err := db.Find(t.Context(), mongodb.Find{Collection: collection, Sort: byID, BatchSize: 100})
	if err != nil {
		t.Fatal(err)
	}
	defer cursor.Close()
	want := int64(0)
	var before []bson.Raw
	check := func(batch []bson.Raw) {
		t.Helper()
		for _, doc := range batch {
			if got := doc.Lookup("_id").Int64(); got != want || doc.Lookup("name").StringValue() != fmt.Sprint("row ", want) {
				t.Fatalf("document %d where %d should be", got, want)
			}
			want++
		}
	}
	for {
		batch, err := cursor.Next(t.Context())
		check(before) // read after the next one was fetched
		if err != nil {
			if err != io.EOF || want != 1050 {
				t.Fatalf("%v after %d documents", err, want)
			}
			break
		}
		if len(batch) > 100 {
			t.Fatalf("a batch of %d", len(batch))
		}
		before = batch
	}
	if _, err := cursor.Next(t.Context()); err != io.EOF {
		t.Errorf("after the end: %v", err)
	}
}

func TestFindLimitsProjectsAndLeavesTombstonesOut(t *testing.T) {
	db := open(t)
	fill(t, db, 10)
	apply(t, db, clock(t, db), shard, version(1, 6), gone(t, int64(0)))
	docs := all(t, db, mongodb.Find{Collection: collection, Filter: bson.D{mongodb.Live}, Sort: byID, Limit: 3,
		Projection: bson.D{{Key: "name", Value: 1}}, Hint: "_id_", MaxTime: time.Second})
	if len(docs) != 3 || docs[0].Lookup("_id").Int64() != 1 {
		t.Fatalf("%v, want ids 1 to 3", docs)
	}
	if _, err := docs[0].LookupErr("_p"); err == nil {
		t.Error("a field that was not asked for came along")
	}
	if docs := all(t, db, mongodb.Find{Collection: "nothing"}); len(docs) != 0 {
		t.Errorf("%v out of nothing", docs)
	}
	secret := bson.D{{Key: "name", Value: "secret"}}
	if _, err := db.Find(t.Context(), mongodb.Find{Collection: collection, Filter: secret, Hint: "no such index"}); !errors.Is(err, mongodb.ErrIndexMissing) || mongodb.Temporary(err) || strings.Contains(err.Error(), "secret") {
		t.Errorf("an unknown index: %v, want a lasting error without the filter", err)
	}
	if _, err := db.Find(t.Context(), mongodb.Find{Collection: collection, Filter: bson.D{{Key: "$secret", Value: 1}}}); err == nil || mongodb.Temporary(err) || strings.Contains(err.Error(), "secret") {
		t.Errorf("a bad filter: %v, want a lasting error without the filter", err)
	}
}

func TestSnapshotShowsOneInstantInAllItsFinds(t *testing.T) {
	db := open(t)
	fill(t, db, 3000)
	if _, err := db.Snapshot(t.Context()); err == nil || !strings.Contains(err.Error(), "start the projector") {
		t.Errorf("a snapshot of an unprepared database: %v", err)
	}
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	s, err := db.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer s.End()
	if age := time.Since(s.Time()); age < -2*time.Second || age > time.Minute {
		t.Errorf("the instant is %v ago", age)
	}
	first, err := s.Find(t.Context(), mongodb.Find{Collection: collection, Sort: byID, BatchSize: 100})
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	if _, err := first.Next(t.Context()); err != nil {
		t.Fatal(err)
	}
	v := version(1, 6)
	apply(t, db, clock(t, db), shard, v, gone(t, int64(2999)), row(t, int64(2998), shard, v, bson.E{Key: "name", Value: "new"}), row(t, int64(9999), shard, v))
	var reading sync.WaitGroup
	for range 4 {
		reading.Go(func() {
			later, err := s.Find(t.Context(), mongodb.Find{Collection: collection, Sort: byID, BatchSize: 100})
			if err != nil {
				t.Error(err)
				return
			}
			defer later.Close()
			if docs := drain(t, later); len(docs) != 3000 || isGone(docs[2999]) || docs[2998].Lookup("name").StringValue() != "row 2998" {
				t.Errorf("%d documents of another instant", len(docs))
			}
		})
	}
	if rest := drain(t, first); len(rest) != 2900 || isGone(rest[2899]) {
		t.Errorf("the first cursor: %d more documents", len(rest))
	}
	reading.Wait()
	if docs := all(t, db, mongodb.Find{Collection: collection, Filter: bson.D{mongodb.Live}}); len(docs) != 3000 {
		t.Errorf("now there are %d", len(docs))
	}
}

func TestEndedContextIsNotTemporaryAndClosesTheServersCursor(t *testing.T) {
	db := open(t)
	fill(t, db, 3000)
	ctx, cancel := context.WithCancel(t.Context())
	cursor, err := db.Find(ctx, mongodb.Find{Collection: collection, BatchSize: 10})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cursor.Next(ctx); err != nil {
		t.Fatal(err)
	}
	if n := openCursors(t, db); n != 1 {
		t.Errorf("%d cursors open on the server, want 1", n)
	}
	cancel()
	_, err = cursor.Next(ctx)
	if !errors.Is(err, context.Canceled) || mongodb.Temporary(err) {
		t.Errorf("Next after the end: %v", err)
	}
	cursor.Close()
	cursor.Close()
	for deadline := time.Now().Add(2 * time.Second); openCursors(t, db) > 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the server still keeps the cursor")
		}
	}
	if _, err := cursor.Next(t.Context()); err == nil || err == io.EOF {
		t.Errorf("Next after Close: %v; it must not look like a clean end", err)
	}
}

// openCursors counts the idle cursors on the test's database.
func openCursors(t *testing.T, db *mongodb.DB) int {
	t.Helper()
	admin := db.Raw().Client().Database("admin")
	cursor, err := admin.Aggregate(t.Context(), bson.A{
		bson.D{{Key: "$currentOp", Value: bson.D{{Key: "idleCursors", Value: true}, {Key: "allUsers", Value: true}}}},
		bson.D{{Key: "$match", Value: bson.D{{Key: "type", Value: "idleCursor"}, {Key: "ns", Value: db.Raw().Name() + "." + collection}}}}})
	if err != nil {
		t.Fatal(err)
	}
	var ops []bson.Raw
	if err := cursor.All(t.Context(), &ops); err != nil {
		t.Fatal(err)
	}
	return len(ops)
}
