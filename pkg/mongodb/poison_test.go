package mongodb_test

import (
	"errors"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/bson"

	"prejoin/pkg/mongodb"
)

func text(bytes int) bson.E { return bson.E{Key: "text", Value: strings.Repeat("x", bytes)} }

func TestOversizedDocumentIsPoisonAndTheRestIsWritten(t *testing.T) {
	db, v := open(t), version(1, 5)
	// Just under 16 MiB it still goes through, alone in its command.
	fits := row(t, int64(1), shard, v, text(16<<20-2048))
	large := row(t, int64(2), shard, v, text(16<<20+1))
	outcomes, err := db.Apply(t.Context(), bulk(clock(t, db), shard, v, fits, large, row(t, int64(3), shard, v), gone(t, int64(4))))
	expect(t, outcomes, mongodb.Applied, mongodb.Poisoned, mongodb.Applied, mongodb.Applied)
	poison := onePoison(t, err)
	if poison.Index != 1 || poison.Reason != mongodb.TooLarge || poison.ID.Int64() != 2 {
		t.Errorf("poison %+v, want write 1, id 2, too_large", poison)
	}
	if stored(t, db, int64(2)) != nil || stored(t, db, int64(1)) == nil {
		t.Error("the wrong one was stored")
	}
	if !strings.Contains(err.Error(), "with _id 2,") || !strings.Contains(err.Error(), "shorten") {
		t.Errorf("%v names neither the document nor what to do", err)
	}
}

func onePoison(t *testing.T, err error) mongodb.Poison {
	t.Helper()
	var poison *mongodb.PoisonError
	if !errors.As(err, &poison) || len(poison.Writes) != 1 {
		t.Fatalf("%v, want one poison", err)
	}
	if mongodb.Temporary(err) {
		t.Error("poison is called temporary")
	}
	return poison.Writes[0]
}

func TestValidatorsRefusalIsPoisonWithoutTheDocumentsValues(t *testing.T) {
	db, v := open(t), version(1, 5)
	validator := bson.D{{Key: "$or", Value: bson.A{bson.D{{Key: "secret", Value: bson.D{{Key: "$type", Value: "string"}}}}, bson.D{{Key: "_p.del", Value: bson.D{{Key: "$exists", Value: true}}}}}}}
	if err := db.Raw().RunCommand(t.Context(), bson.D{{Key: "create", Value: collection}, {Key: "validator", Value: validator}}).Err(); err != nil {
		t.Fatal(err)
	}
	outcomes, err := db.Apply(t.Context(), bulk(clock(t, db), shard, v,
		row(t, int64(1), shard, v, bson.E{Key: "secret", Value: "a"}), row(t, int64(2), shard, v, bson.E{Key: "secret", Value: int64(880101)}), gone(t, int64(3))))
	expect(t, outcomes, mongodb.Applied, mongodb.Poisoned, mongodb.Applied)
	poison := onePoison(t, err)
	if poison.Index != 1 || poison.Reason != mongodb.Invalid || strings.Contains(err.Error(), "880101") {
		t.Errorf("poison %+v: %v", poison, err)
	}
}

func TestUniqueIndexesRefusalIsPoison(t *testing.T) {
	db, v := open(t), version(1, 5)
	spec := bson.D{{Key: "name", Value: "u"}, {Key: "key", Value: bson.D{{Key: "no", Value: 1}}}, {Key: "unique", Value: true}}
	if err := db.Raw().RunCommand(t.Context(), bson.D{{Key: "createIndexes", Value: collection}, {Key: "indexes", Value: bson.A{spec}}}).Err(); err != nil {
		t.Fatal(err)
	}
	_, err := db.Apply(t.Context(), bulk(clock(t, db), shard, v,
		row(t, int64(1), shard, v, bson.E{Key: "no", Value: "880101"}), row(t, int64(2), shard, v, bson.E{Key: "no", Value: "880101"})))
	if poison := onePoison(t, err); poison.Reason != mongodb.Refused || strings.Contains(err.Error(), "880101") || !strings.Contains(err.Error(), "drop that index") {
		t.Errorf("poison %+v: %v", poison, err)
	}
}

func TestBulksAreSplitByBytesAndCount(t *testing.T) {
	db, v := open(t), version(1, 5)
	var writes []mongodb.Write
	for i := range 7 {
		writes = append(writes, row(t, int64(i), shard, v, text(5<<20)))
	}
	for i := range 2500 {
		writes = append(writes, row(t, int64(100+i), shard, v))
	}
	c := clock(t, db)
	for _, want := range []mongodb.Outcome{mongodb.Applied, mongodb.Superfluous} {
		outcomes := apply(t, db, c, shard, v, writes...)
		for i, o := range outcomes {
			if o != want {
				t.Fatalf("write %d: %v, want %v", i, o, want)
			}
		}
	}
	n, err := db.Raw().Collection(collection).CountDocuments(t.Context(), bson.D{})
	if err != nil || n != int64(len(writes)) {
		t.Errorf("%d documents stored (%v), want %d", n, err, len(writes))
	}
}

func TestInsertReportsDuplicatesAndPoison(t *testing.T) {
	db, v := open(t), version(1, 5)
	var docs []bson.Raw
	for i := range 2500 {
		docs = append(docs, row(t, int64(i), shard, v).Doc)
	}
	apply(t, db, clock(t, db), shard, v, row(t, int64(3), shard, v), row(t, int64(2100), shard, v))
	docs[2200] = row(t, int64(2200), shard, v, text(16<<20)).Doc
	duplicates, err := db.Insert(t.Context(), collection, docs)
	if len(duplicates) != 2 || duplicates[0] != 3 || duplicates[1] != 2100 {
		t.Errorf("duplicates %v, want 3 and 2100", duplicates)
	}
	if poison := onePoison(t, err); poison.Index != 2200 || poison.Reason != mongodb.TooLarge {
		t.Errorf("poison %+v", poison)
	}
	if n, _ := db.Raw().Collection(collection).CountDocuments(t.Context(), bson.D{}); n != 2499 {
		t.Errorf("%d documents, want 2499", n)
	}
}
