package query

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/bson"
)

// operators are all that a filter may hold, whatever a client sends.
var operators = []string{"$and", "$in", "$gte", "$gt", "$lt", "$lte", "$ne", "$exists"}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"status=in:PAID,HELD&payDue=2026-11-01..2026-11-30&tz=Asia/Seoul", "merchantId[$gt]=1", "merchantId=3",
		"amount=1.10..2&sort=-amount&limit=3", "paidAt=2026-11-01T00:00:00Z..", "fields=amount,status", "orderNo=$where:1",
		"page=AAAA", "status=PAID&status=HELD", "orderNo=eq:..", "%24where=1", "payDue=..",
	} {
		f.Add(seed)
	}
	live := string(document(f, notDeleted))
	own := string(document(f, bson.D{{Key: "merchantId", Value: bson.D{{Key: "$in", Value: bson.A{int64(1), int64(2)}}}}}))
	m, tokens := sample(), testTokens(f)
	f.Fuzz(func(t *testing.T, parameters string) {
		values, err := url.ParseQuery(parameters)
		if err != nil {
			return
		}
		q, err := Parse(m, seller, values, Options{Collection: "c", Tokens: tokens})
		if err != nil {
			p := problemOf(t, err)
			if p.Status < 400 || p.Status > 422 || p.Detail == "" || strings.Contains(p.Detail, "\n") && !strings.Contains(parameters, "%0") && !strings.Contains(parameters, "\n") {
				t.Errorf("%q: bad problem %+v", parameters, p)
			}
			return
		}
		for _, s := range append(q.Segments, Segment{Filter: q.Filter}) {
			filter := s.Filter
			clauses := filter[0].Value.(bson.A)
			if string(document(t, clauses[0].(bson.D))) != own || string(document(t, clauses[1].(bson.D))) != live {
				t.Errorf("%q: scope or tombstones are not in %v", parameters, filter)
			}
			onlyOperators(t, document(t, filter))
		}
	})
}

// onlyOperators fails on a key of any depth that begins with $ and is none of ours.
func onlyOperators(t *testing.T, doc bson.Raw) {
	t.Helper()
	elements, err := doc.Elements()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range elements {
		if strings.HasPrefix(e.Key(), "$") && !slices.Contains(operators, e.Key()) {
			t.Errorf("operator %s got in", e.Key())
		}
		if v := e.Value(); v.Type == bson.TypeEmbeddedDocument || v.Type == bson.TypeArray {
			onlyOperators(t, v.Value)
		}
	}
}
