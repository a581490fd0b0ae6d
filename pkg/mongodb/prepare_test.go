package mongodb_test

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.mongodb.org/mongo-driver/bson"

	"prejoin/pkg/mongodb"
	"prejoin/pkg/readmodel"
)

func model(version int, shape string) *readmodel.Model {
	return &readmodel.Model{Name: "settlement", Version: version, ID: "settlementId", Shape: shape, Text: "text of " + shape,
		Scope: []readmodel.Scope{{Name: "merchant", Field: "merchantId"}},
		Fields: []readmodel.Field{{Name: "settlementId", Type: readmodel.Int64}, {Name: "merchantId", Type: readmodel.Int64},
			{Name: "status", Type: readmodel.Text}, {Name: "payDue", Type: readmodel.Date}},
		Access: []readmodel.Access{
			{Scope: "merchant", Range: "payDue", Sort: readmodel.SortKey{Field: "payDue", Desc: true}},
			{Scope: "merchant", Sort: readmodel.SortKey{Field: "payDue", Desc: true}}, // the same index
			{Scope: "merchant", Equal: []string{"status"}, Range: "payDue", Sort: readmodel.SortKey{Field: "payDue", Desc: true}},
			{Scope: "none", Range: "payDue", Sort: readmodel.SortKey{Field: "payDue"}},
			{Scope: "merchant", Sort: readmodel.SortKey{Field: "settlementId"}}}}
}

func indexes(t *testing.T, db *mongodb.DB) map[string]bson.Raw {
	t.Helper()
	cursor, err := db.Raw().Collection(collection).Indexes().List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var list []bson.Raw
	if err := cursor.All(t.Context(), &list); err != nil {
		t.Fatal(err)
	}
	byName := map[string]bson.Raw{}
	for _, index := range list {
		byName[index.Lookup("name").StringValue()] = index
	}
	return byName
}

func TestPrepareMakesIndexesAndCanBeRunByManyAtOnce(t *testing.T) {
	db := open(t)
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			if err := db.Prepare(t.Context(), model(1, "a")); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	got := indexes(t, db)
	for name, want := range map[string]string{
		"access_merchantId_1_payDue_-1__id_-1":          `{"merchantId": 1,"payDue": -1,"_id": -1}`,
		"access_merchantId_1_status_1_payDue_-1__id_-1": `{"merchantId": 1,"status": 1,"payDue": -1,"_id": -1}`,
		"access_payDue_1__id_1_live":                    `{"payDue": 1,"_id": 1}`,
		"access_merchantId_1__id_1":                     `{"merchantId": 1,"_id": 1}`,
		"tombstones":                                    `{"_p.del": 1}`,
	} {
		keys := got[name].Lookup("key")
		text := strings.NewReplacer(`{"$numberInt":"1"}`, "1", `{"$numberInt":"-1"}`, "-1").Replace(keys.String())
		if text != want {
			t.Errorf("index %s has the keys %s, want %s", name, text, want)
		}
	}
	if only := got["access_payDue_1__id_1_live"].Lookup("partialFilterExpression", "merchantId", "$exists"); !only.Boolean() {
		t.Errorf("the operators' index holds tombstones: %v", got["access_payDue_1__id_1_live"])
	}
	if len(got) != 6 {
		t.Errorf("%d indexes, want _id and 5", len(got))
	}
	ttl := got["tombstones"]
	if s, _ := ttl.Lookup("expireAfterSeconds").AsInt64OK(); s != 7*24*3600 || !ttl.Lookup("partialFilterExpression", "_p.del", "$exists").Boolean() {
		t.Errorf("the tombstones' index is %v", ttl)
	}
	if served, err := db.Served(t.Context(), "settlement"); err != nil || served != "" {
		t.Errorf("served %q before it was filled, %v", served, err)
	}
	for range 2 {
		if err := db.Serve(t.Context(), model(1, "a")); err != nil {
			t.Fatal(err)
		}
		if served, err := db.Served(t.Context(), "settlement"); err != nil || served != collection {
			t.Errorf("served %q, %v", served, err)
		}
	}
	if err := db.Prepare(t.Context(), model(1, "a")); err != nil {
		t.Fatal(err)
	}
	if served, _ := db.Served(t.Context(), "settlement"); served != collection {
		t.Errorf("preparing again serves %q", served)
	}
	if _, err := db.Served(t.Context(), "nothing"); !errors.Is(err, mongodb.ErrNotFound) {
		t.Errorf("an unknown model: %v", err)
	}
}

func TestPrepareRefusesAnotherShapeAndVersion(t *testing.T) {
	db := open(t)
	prepare := func(m *readmodel.Model, want error, words string) {
		t.Helper()
		err := db.Prepare(t.Context(), m)
		if !errors.Is(err, want) || want != nil && !strings.Contains(err.Error(), words) {
			t.Errorf("Prepare: %v, want %v with %q", err, want, words)
		}
	}
	prepare(model(2, "a"), nil, "")
	prepare(model(2, "b"), mongodb.ErrShapeChanged, "go back to the file as it was")
	prepare(model(1, "a"), mongodb.ErrRebuildNeeded, "use the newer file")
	prepare(model(3, "c"), mongodb.ErrRebuildNeeded, "go back to the file of version 2")
	relabelled := model(2, "a")
	relabelled.Text = "new labels"
	prepare(relabelled, nil, "")
	if r, err := db.Model(t.Context(), "settlement"); err != nil || r.Text != "new labels" || r.Version != 2 || r.Shape != "a" {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestTheWayToAChangedModelIsOpen: what the refusal tells to do leads on.
func TestTheWayToAChangedModelIsOpen(t *testing.T) {
	for _, changed := range []*readmodel.Model{model(1, "b"), model(2, "b")} {
		db := open(t)
		if err := db.Prepare(t.Context(), model(1, "a")); err != nil {
			t.Fatal(err)
		}
		err := db.Prepare(t.Context(), changed)
		if err == nil || !strings.Contains(err.Error(), `drop the collection settlement_v1, delete the document with _id "settlement" from _prejoin.models`) {
			t.Fatalf("Prepare: %v", err)
		}
		if err := db.Raw().Collection("settlement_v1").Drop(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := db.Raw().Collection("_prejoin.models").DeleteOne(t.Context(), bson.D{{Key: "_id", Value: "settlement"}}); err != nil {
			t.Fatal(err)
		}
		if err := db.Prepare(t.Context(), changed); err != nil {
			t.Error(err)
		}
		if served, err := db.Served(t.Context(), "settlement"); err != nil || served != "" {
			t.Errorf("served %q, %v; want nothing until it is filled", served, err)
		}
	}
}

func TestPrepareRefusesIndexesThatWouldBlockWrites(t *testing.T) {
	db := open(t)
	index := func(spec bson.D) {
		t.Helper()
		if err := db.Raw().RunCommand(t.Context(), bson.D{{Key: "createIndexes", Value: collection}, {Key: "indexes", Value: bson.A{spec}}}).Err(); err != nil {
			t.Fatal(err)
		}
	}
	index(bson.D{{Key: "name", Value: "mine"}, {Key: "key", Value: bson.D{{Key: "no", Value: 1}}}, {Key: "unique", Value: true}})
	if err := db.Prepare(t.Context(), model(1, "a")); err == nil || !strings.Contains(err.Error(), "mine is unique") {
		t.Errorf("a unique index: %v", err)
	}
	db.Raw().Collection(collection).Drop(t.Context())
	index(bson.D{{Key: "name", Value: "tombstones"}, {Key: "key", Value: bson.D{{Key: "_p.del", Value: 1}}}, {Key: "expireAfterSeconds", Value: 5}})
	if err := db.Prepare(t.Context(), model(1, "a")); err == nil || !strings.Contains(err.Error(), "drop that index") {
		t.Errorf("an index in another form: %v", err)
	}
}

func TestMissingNamesWhatACollectionLacks(t *testing.T) {
	db := open(t)
	f := func(want ...string) {
		t.Helper()
		if got, err := db.Missing(t.Context(), model(1, "a"), collection); err != nil || !slices.Equal(got, want) {
			t.Errorf("%v, %v, want %v", got, err, want)
		}
	}
	f("the collection " + collection)
	if err := db.Prepare(t.Context(), model(1, "a")); err != nil {
		t.Fatal(err)
	}
	f()
	if _, err := db.Raw().Collection(collection).Indexes().DropOne(t.Context(), "access_merchantId_1__id_1"); err != nil {
		t.Fatal(err)
	}
	f("the index access_merchantId_1__id_1")
}

// A database that was prepared before has the whole index; the one without
// tombstones is made beside it.
func TestPrepareMakesThePartialIndexBesideTheWholeOne(t *testing.T) {
	db := open(t)
	if err := db.Raw().RunCommand(t.Context(), bson.D{{Key: "createIndexes", Value: collection}, {Key: "indexes", Value: bson.A{
		bson.D{{Key: "name", Value: "access_payDue_1__id_1"}, {Key: "key", Value: bson.D{{Key: "payDue", Value: 1}, {Key: "_id", Value: 1}}}}}}}).Err(); err != nil {
		t.Fatal(err)
	}
	if err := db.Prepare(t.Context(), model(1, "a")); err != nil {
		t.Fatal(err)
	}
	if missing, err := db.Missing(t.Context(), model(1, "a"), collection); err != nil || len(missing) > 0 {
		t.Errorf("%v, %v", missing, err)
	}
}
