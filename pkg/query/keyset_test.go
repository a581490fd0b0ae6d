package query

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/primitive"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"
	"pgregory.net/rapid"

	"prejoin/pkg/mongodb"
	"prejoin/pkg/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

// collection is a real one, prepared as the projector does.
func collection(t testing.TB) *mongo.Collection {
	t.Helper()
	uri, database := testenv.MongoDB(t)
	client, err := mongo.Connect(t.Context(), options.Client().ApplyURI(uri))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Disconnect(context.Background()) })
	db, err := mongodb.Open(t.Context(), mongodb.Config{URI: uri, Database: database})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close(context.Background()) })
	if err := db.Prepare(t.Context(), sample()); err != nil {
		t.Fatal(err)
	}
	return client.Database(database).Collection("settlement_v1")
}

type fatal interface{ Fatal(args ...any) }

func find(t fatal, c *mongo.Collection, s Segment, q *Request, limit int) []bson.Raw {
	ctx := context.Background()
	index := mongodb.Index(q.Model, *q.Access) // as queryd finds
	cursor, err := c.Find(ctx, index.Within(s.Filter), options.Find().SetSort(s.Sort).SetHint(index.Name).SetLimit(int64(limit)).SetProjection(q.Projection))
	if err != nil {
		t.Fatal(err)
	}
	var docs []bson.Raw
	if err := cursor.All(ctx, &docs); err != nil {
		t.Fatal(err)
	}
	return docs
}

// pages walks all pages and returns the ids in the order they came.
func pages(t fatal, c *mongo.Collection, r Reader, values url.Values, o Options) []int64 {
	var ids []int64
	for {
		q, err := Parse(sample(), r, values, o)
		if err != nil {
			t.Fatal(err)
		}
		var docs []bson.Raw
		for _, s := range q.Segments {
			if left := q.Limit - len(docs); left > 0 {
				docs = append(docs, find(t, c, s, q, left)...)
			}
		}
		for _, d := range docs {
			ids = append(ids, d.Lookup("_id").Int64())
		}
		if len(docs) < q.Limit {
			return ids
		}
		token, err := q.Next(docs[len(docs)-1])
		if err != nil {
			t.Fatal(err)
		}
		values.Set("page", token)
	}
}

// keyOf makes a sort key of few distinct values, so that ties are common; a
// quarter are null and some are missing.
func keyOf(field string, n int) any {
	day := time.Date(2026, 11, 1+n, 0, 0, 0, 0, time.UTC)
	switch {
	case n < 0:
		return nil
	case field == "amount":
		d, _ := primitive.ParseDecimal128(fmt.Sprintf("%d.50", n-2))
		return d
	case field == "orderNo":
		return fmt.Sprint("가", n)
	default:
		return primitive.NewDateTimeFromTime(day)
	}
}

type row struct{ merchant, key, status int }

func (r row) doc(field string, id int) bson.D {
	if r.merchant == 0 {
		return bson.D{{Key: "_id", Value: int64(id)}, {Key: "_p", Value: bson.D{{Key: "del", Value: time.Now()}}}}
	}
	d := bson.D{{Key: "_id", Value: int64(id)}, {Key: "merchantId", Value: int64(r.merchant)}, {Key: "status", Value: []string{"PAID", "HELD", "SCHEDULED"}[r.status]}}
	if r.key > -2 {
		d = append(d, bson.E{Key: field, Value: keyOf(field, r.key)})
	}
	return append(d, bson.E{Key: "_p", Value: bson.D{{Key: "s", Value: "shard0"}}})
}

// The pages of any query, laid end to end, are the full scan: no row lost, none
// twice, in its order.
func TestPagesAreTheFullScan(t *testing.T) {
	c := collection(t)
	o := Options{Collection: c.Name(), Tokens: testTokens(t)}
	rapid.Check(t, func(t *rapid.T) {
		field := rapid.SampledFrom([]string{"payDue", "paidAt", "amount", "orderNo"}).Draw(t, "field")
		rows := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) row {
			return row{rapid.IntRange(0, 3).Draw(t, "merchant"), rapid.IntRange(-2, 4).Draw(t, "key"), rapid.IntRange(0, 2).Draw(t, "status")}
		}), 0, 60).Draw(t, "rows")
		values := url.Values{"limit": {fmt.Sprint(rapid.IntRange(1, 8).Draw(t, "limit"))}}
		values.Set("sort", rapid.SampledFrom([]string{"", "-"}).Draw(t, "direction")+field)
		if field == "payDue" && rapid.Bool().Draw(t, "status") {
			values.Set("status", "in:PAID,HELD")
		}
		if field == "payDue" && rapid.Bool().Draw(t, "bounded") {
			values.Set("payDue", rapid.SampledFrom([]string{"2026-11-02..2026-11-03", "..2026-11-02", "2026-11-02.."}).Draw(t, "range"))
		}
		if rapid.Bool().Draw(t, "projected") {
			values.Set("fields", "status")
		}
		fill(t, c, field, rows)
		want := scan(t, c, values, o)
		if got := pages(t, c, seller, values, o); !slices.Equal(got, want) {
			t.Fatalf("pages %v, scan %v", got, want)
		}
		if n := expected(rows, values); n != len(want) {
			t.Fatalf("%d rows, %d expected", len(want), n)
		}
	})
}

func fill(t fatal, c *mongo.Collection, field string, rows []row) {
	ctx := context.Background()
	if _, err := c.DeleteMany(ctx, bson.D{}); err != nil {
		t.Fatal(err)
	}
	docs := make([]any, len(rows))
	for i, r := range rows {
		docs[i] = r.doc(field, (i*7)%101) // ids in another order than rows
	}
	if len(docs) == 0 {
		return
	}
	if _, err := c.InsertMany(ctx, docs); err != nil {
		t.Fatal(err)
	}
}

func scan(t fatal, c *mongo.Collection, values url.Values, o Options) []int64 {
	q, err := Parse(sample(), seller, values, o)
	if err != nil {
		t.Fatal(err)
	}
	var ids []int64
	for _, d := range find(t, c, Segment{q.Filter, q.Sort}, q, 0) {
		ids = append(ids, d.Lookup("_id").Int64())
	}
	return ids
}

// expected counts the rows in Go, so that the filter itself is not its own judge.
func expected(rows []row, values url.Values) int {
	low, high := -2, 99
	switch values.Get("payDue") {
	case "2026-11-02..2026-11-03":
		low, high = 1, 2
	case "..2026-11-02":
		low, high = 0, 1
	case "2026-11-02..":
		low = 1
	}
	n := 0
	for _, r := range rows {
		mine := r.merchant == 1 || r.merchant == 2
		if mine && r.key >= low && r.key <= high && (!values.Has("status") || r.status < 2) {
			n++
		}
	}
	return n
}

// 500 equal keys and 300 nulls, both directions, over many merchants.
func TestManyTiesAndNulls(t *testing.T) {
	c := collection(t)
	var rows []row
	for i := range 97 { // ids below are distinct modulo 101
		rows = append(rows, row{1 + i%2, -1 + i%3, i % 3})
	}
	fill(t, c, "payDue", rows)
	var docs []any
	for i := range 800 {
		key := 2
		if i >= 500 {
			key = -1
		}
		docs = append(docs, row{1 + i%2, key, 0}.doc("payDue", 1000+i))
	}
	if _, err := c.InsertMany(t.Context(), docs); err != nil {
		t.Fatal(err)
	}
	o := Options{Collection: c.Name(), Tokens: testTokens(t)}
	for _, sort := range []string{"payDue", "-payDue"} {
		for _, limit := range []string{"7", "100", "1000"} {
			values := url.Values{"sort": {sort}, "limit": {limit}}
			want := scan(t, c, values, o)
			if got := pages(t, c, seller, values, o); !slices.Equal(got, want) || len(got) != 897 {
				t.Errorf("sort=%s limit=%s: %d rows by pages, %d by scan", sort, limit, len(got), len(want))
			}
		}
	}
}

// Every segment of every pattern is read from its index in order: no scan of
// the collection, no sort, and hardly a document more than is returned.
func TestPlans(t *testing.T) {
	c := collection(t)
	var docs []any
	for i := range 3000 {
		docs = append(docs, row{1 + i%2, -1 + i%20, i % 3}.doc("payDue", i))
	}
	for i := range 500 { // what was deleted is not read through
		docs = append(docs, row{}.doc("payDue", 5000+i))
	}
	if _, err := c.InsertMany(t.Context(), docs); err != nil {
		t.Fatal(err)
	}
	for _, parameters := range []string{"", "sort=payDue", "status=PAID", "status=in:PAID,HELD", "payDue=2026-11-03..2026-11-09", "payDue=2026-11-03&status=PAID", "merchantId=1&status=in:HELD,PAID&sort=payDue"} {
		walkPlans(t, c, seller, parameters)
		walkPlans(t, c, operator, parameters)
	}
}

// walkPlans checks the plans of the first pages.
func walkPlans(t *testing.T, c *mongo.Collection, r Reader, parameters string) {
	t.Helper()
	values, _ := url.ParseQuery(parameters)
	for page := range 4 {
		q, err := Parse(sample(), r, values, Options{Collection: c.Name(), Tokens: testTokens(t)})
		if err != nil {
			t.Fatal(err)
		}
		var last bson.Raw
		for _, s := range q.Segments {
			checkPlan(t, c, s, q, fmt.Sprintf("%s %s page %d", r.Key, parameters, page))
			if docs := find(t, c, s, q, q.Limit); last == nil && len(docs) > 0 {
				last = docs[len(docs)-1]
			}
		}
		if last == nil {
			return
		}
		token, err := q.Next(last)
		if err != nil {
			t.Fatal(err)
		}
		values.Set("page", token)
	}
}

func checkPlan(t *testing.T, c *mongo.Collection, s Segment, q *Request, name string) {
	t.Helper()
	index := mongodb.Index(q.Model, *q.Access)
	command := bson.D{{Key: "find", Value: c.Name()}, {Key: "filter", Value: index.Within(s.Filter)}, {Key: "sort", Value: s.Sort}, {Key: "hint", Value: index.Name}, {Key: "limit", Value: q.Limit}}
	raw, err := c.Database().RunCommand(t.Context(), bson.D{{Key: "explain", Value: command}, {Key: "verbosity", Value: "executionStats"}}).Raw()
	if err != nil {
		t.Fatal(err)
	}
	plan := raw.Lookup("queryPlanner", "winningPlan").Document()
	stages := stagesOf(plan)
	if slices.Contains(stages, "COLLSCAN") || slices.Contains(stages, "SORT") {
		t.Errorf("%s: plan %v", name, stages)
	}
	stats := raw.Lookup("executionStats").Document()
	returned, examined := stats.Lookup("nReturned").AsInt64(), stats.Lookup("totalDocsExamined").AsInt64()
	keys := stats.Lookup("totalKeysExamined").AsInt64()
	if examined > returned+1 || keys > 2*returned+20 {
		t.Errorf("%s: returned %d, examined %d documents and %d keys", name, returned, examined, keys)
	}
}

func stagesOf(doc bson.Raw) []string {
	var stages []string
	elements, _ := doc.Elements()
	for _, e := range elements {
		switch v := e.Value(); {
		case e.Key() == "stage":
			stages = append(stages, v.StringValue())
		case v.Type == bson.TypeEmbeddedDocument || v.Type == bson.TypeArray:
			stages = append(stages, stagesOf(v.Value)...)
		}
	}
	return stages
}
