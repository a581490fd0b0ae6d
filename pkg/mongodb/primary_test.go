package mongodb_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"prejoin/pkg/mongodb"
	"prejoin/pkg/testenv"
)

// TestFindReadsFromThePrimaryWhereItMust: the set has one member and the URI
// asks for secondaries, so a find that follows the URI finds no server.
func TestFindReadsFromThePrimaryWhereItMust(t *testing.T) {
	uri, database := testenv.MongoDB(t)
	sign := "?"
	if strings.Contains(uri, "?") {
		sign = "&"
	}
	db := openAt(t, uri+sign+"readPreference=secondary", database)
	fill(t, db, 2500)
	f := mongodb.Find{Collection: collection, Sort: byID}
	short, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if cursor, err := db.Find(short, f); err == nil {
		cursor.Close()
		t.Fatal("the URI's readPreference was not followed: this test shows nothing")
	}
	f.Primary = true
	if docs := all(t, db, f); len(docs) != 2500 {
		t.Errorf("%d documents, want 2500", len(docs))
	}
}
