package mongodb_test

import (
	"bytes"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/primitive"

	"prejoin/pkg/mongodb"
)

func TestNewerReplacesOlderAndNeverBack(t *testing.T) {
	db, id := open(t), int64(7)
	c := clock(t, db)
	write := func(v mongodb.Version, name string, want mongodb.Outcome) {
		t.Helper()
		expect(t, apply(t, db, c, shard, v, row(t, id, shard, v, bson.E{Key: "name", Value: name})), want)
	}
	write(version(1, 5), "five", mongodb.Applied)
	write(version(1, 4), "four", mongodb.Superfluous)
	write(version(1, 5), "five again", mongodb.Superfluous)
	write(version(1, 6), "six", mongodb.Applied)
	write(version(2, 1), "new epoch", mongodb.Applied)
	write(version(1, 99), "old epoch", mongodb.OtherEpoch)
	if got := stored(t, db, id).Lookup("name").StringValue(); got != "new epoch" {
		t.Errorf("stored %q, want the new epoch's", got)
	}
}

func TestDocumentIsStoredByteForByte(t *testing.T) {
	db, v := open(t), version(1, 5)
	w := row(t, int64(1), shard, v,
		bson.E{Key: "text", Value: "$name"}, bson.E{Key: "$dollar", Value: "$$NOW"}, bson.E{Key: "a.b", Value: bson.D{{Key: "$literal", Value: 1}}},
		bson.E{Key: "null", Value: nil}, bson.E{Key: "long", Value: int64(1<<53 + 1)}, bson.E{Key: "int", Value: int32(5)},
		bson.E{Key: "korean", Value: "정산금액"}, bson.E{Key: "zero", Value: "a\x00b"},
		bson.E{Key: "lines", Value: bson.A{bson.D{{Key: "amount", Value: decimal(t, "1.10")}}, bson.D{{Key: "$where", Value: "$amount"}}}})
	expect(t, apply(t, db, clock(t, db), shard, v, w), mongodb.Applied)
	if got := stored(t, db, int64(1)); !bytes.Equal(got, w.Doc) {
		t.Errorf("stored %v\nwant   %v", got, w.Doc)
	}
	// The same with an older document there, which is the pipeline's other way.
	v2 := version(1, 6)
	w2 := row(t, int64(1), shard, v2, bson.E{Key: "$set", Value: bson.D{{Key: "$inc", Value: "$text"}}})
	expect(t, apply(t, db, clock(t, db), shard, v2, w2), mongodb.Applied)
	if got := stored(t, db, int64(1)); !bytes.Equal(got, w2.Doc) {
		t.Errorf("stored %v\nwant   %v", got, w2.Doc)
	}
}

func decimal(t testing.TB, text string) primitive.Decimal128 {
	t.Helper()
	d, err := primitive.ParseDecimal128(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestTextIDsThatLookLikeOperators(t *testing.T) {
	db, v := open(t), version(1, 5)
	ids := []string{"$$ROOT", "$name", "", "a.b", "정산", "7"}
	var writes, dead []mongodb.Write
	for _, id := range ids {
		writes, dead = append(writes, row(t, id, shard, v)), append(dead, gone(t, id))
	}
	apply(t, db, clock(t, db), shard, v, writes...)
	for i, id := range ids {
		if got := stored(t, db, id); !bytes.Equal(got, writes[i].Doc) {
			t.Errorf("id %q: stored %v", id, got)
		}
	}
	apply(t, db, clock(t, db), shard, version(1, 6), dead...)
	for _, id := range ids {
		if !isGone(stored(t, db, id)) {
			t.Errorf("id %q: no tombstone but %v", id, stored(t, db, id))
		}
	}
}

func TestTombstoneIsNotOverwrittenByAnOlderRow(t *testing.T) {
	db, id := open(t), int64(7)
	c := clock(t, db)
	v4, v5, v6 := version(1, 4), version(1, 5), version(1, 6)
	expect(t, apply(t, db, c, shard, v5, gone(t, id)), mongodb.Applied)
	doc := stored(t, db, id)
	if !isGone(doc) || doc.Lookup("_p", "s").StringValue() != shard || doc.Lookup("_p", "v", "r").Int64() != 5 {
		t.Fatalf("stored %v, want a tombstone of rank 5", doc)
	}
	if age := time.Since(doc.Lookup("_p", "del").Time()); age < -time.Minute || age > time.Minute {
		t.Errorf("deleted %v ago", age)
	}
	expect(t, apply(t, db, c, shard, v4, row(t, id, shard, v4)), mongodb.Superfluous)
	if !isGone(stored(t, db, id)) {
		t.Error("an older row came back")
	}
	expect(t, apply(t, db, c, shard, v6, row(t, id, shard, v6)), mongodb.Applied)
	if isGone(stored(t, db, id)) {
		t.Error("a newer row must replace the tombstone")
	}
}

func TestLateWriteHasNoEffect(t *testing.T) {
	db := open(t)
	now := clock(t, db)
	v5, v6 := version(1, 5), version(1, 6)
	apply(t, db, now, shard, v5, row(t, int64(1), shard, v5, bson.E{Key: "name", Value: "five"}))

	late := now.Aged(61 * time.Second)
	expect(t, apply(t, db, late, shard, v6, row(t, int64(1), shard, v6), row(t, int64(2), shard, v6), gone(t, int64(3))),
		mongodb.Late, mongodb.Late, mongodb.Late)
	if got := stored(t, db, int64(1)).Lookup("name").StringValue(); got != "five" {
		t.Errorf("a late write replaced the document by %q", got)
	}
	for _, id := range []int64{2, 3} {
		doc := stored(t, db, id)
		if !isGone(doc) || doc.Lookup("_p", "v", "e").Int64() != 0 || doc.Lookup("_p", "v", "r").Int64() != 0 {
			t.Errorf("id %d: stored %v, want a stub of version {0, 0}", id, doc)
		}
	}
	expect(t, apply(t, db, now, shard, v6, row(t, int64(1), shard, v6), row(t, int64(2), shard, v6), gone(t, int64(3))),
		mongodb.Applied, mongodb.Applied, mongodb.Applied)
}

// A stub counts as upserted, so a clock that says "in time" of a bulk that was
// not would call a lost write applied. The change of primary gives it away.
func TestLateStubUnderAnotherPrimaryIsSeen(t *testing.T) {
	db, v := open(t), version(1, 5)
	c := clock(t, db).Behind(61 * time.Second)
	if !db.InTime(c) {
		t.Fatal("the test needs a clock that looks fresh")
	}
	expect(t, apply(t, db, c.OfOtherTerm(), shard, v, row(t, int64(1), shard, v)), mongodb.Late)
}

func TestClockThatIsOldIsNotTrusted(t *testing.T) {
	db := open(t)
	c := clock(t, db)
	for age, want := range map[time.Duration]bool{0: true, 25 * time.Second: true, 31 * time.Second: false, time.Hour: false} {
		if got := db.InTime(c.Aged(age)); got != want {
			t.Errorf("in time at age %v: %v, want %v", age, got, want)
		}
	}
	if skew := c.Skew(); skew < -time.Second || skew > time.Second {
		t.Errorf("skew %v on one machine", skew)
	}
}

func TestAnotherShardIsNeverOverwritten(t *testing.T) {
	db, id := open(t), int64(7)
	c := clock(t, db)
	apply(t, db, c, "shard1", version(1, 5), row(t, id, "shard1", version(1, 5)))
	before := stored(t, db, id)
	v := version(9, 99)
	expect(t, apply(t, db, c, shard, v, row(t, id, shard, v)), mongodb.OtherShard)
	expect(t, apply(t, db, c, shard, v, gone(t, id)), mongodb.OtherShard)
	if !bytes.Equal(before, stored(t, db, id)) {
		t.Error("another shard's document was changed")
	}
}

func TestIntegersOfAnyWidthAreTheSameIDAndVersion(t *testing.T) {
	db := open(t)
	c := clock(t, db)
	_, err := db.Raw().Collection(collection).InsertOne(t.Context(), bson.D{{Key: "_id", Value: int32(7)},
		{Key: "_p", Value: bson.D{{Key: "v", Value: bson.D{{Key: "e", Value: int32(1)}, {Key: "r", Value: int32(5)}}}, {Key: "s", Value: shard}}}})
	if err != nil {
		t.Fatal(err)
	}
	expect(t, apply(t, db, c, shard, version(1, 4), row(t, int64(7), shard, version(1, 4))), mongodb.Superfluous)
	expect(t, apply(t, db, c, shard, version(1, 5), row(t, int64(7), shard, version(1, 5))), mongodb.Superfluous)
	big := version(1, 1<<40)
	expect(t, apply(t, db, c, shard, big, row(t, int64(7), shard, big)), mongodb.Applied)
	expect(t, apply(t, db, c, shard, version(1, 6), row(t, int32(7), shard, version(1, 6))), mongodb.Superfluous)
}

func TestOneBulkJudgesEachWrite(t *testing.T) {
	db := open(t)
	c := clock(t, db)
	v5, v9 := version(1, 5), version(1, 9)
	apply(t, db, c, shard, v9, row(t, int64(1), shard, v9))
	apply(t, db, c, "shard1", v5, row(t, int64(2), "shard1", v5))
	apply(t, db, c, shard, version(2, 1), row(t, int64(3), shard, version(2, 1)))
	expect(t, apply(t, db, c, shard, v5,
		row(t, int64(1), shard, v5), row(t, int64(2), shard, v5), row(t, int64(3), shard, v5), row(t, int64(4), shard, v5), gone(t, int64(5))),
		mongodb.Superfluous, mongodb.OtherShard, mongodb.OtherEpoch, mongodb.Applied, mongodb.Applied)
}

func TestWhatWouldBreakALawIsRefused(t *testing.T) {
	db, v := open(t), version(1, 5)
	c := clock(t, db)
	good := row(t, int64(1), shard, v)
	other := row(t, int64(2), shard, v)
	refuse := func(name string, b mongodb.Bulk) {
		t.Helper()
		if _, err := db.Apply(t.Context(), b); err == nil || mongodb.Temporary(err) {
			t.Errorf("%s: %v, want a lasting error", name, err)
		}
	}
	refuse("no clock", bulk(mongodb.Clock{}, shard, v, good))
	refuse("no shard", bulk(c, "", v, good))
	refuse("no version", bulk(c, shard, mongodb.Version{}, good))
	refuse("another id", bulk(c, shard, v, mongodb.Write{ID: good.ID, Doc: other.Doc}))
	refuse("another version", bulk(c, shard, version(1, 6), good))
	refuse("another shard", bulk(c, "shard1", v, good))
	refuse("no stamp", bulk(c, shard, v, mongodb.Write{ID: good.ID, Doc: bson.Raw(mustMarshal(t, bson.D{{Key: "_id", Value: int64(1)}}))}))
	refuse("a document as id", bulk(c, shard, v, row(t, bson.D{{Key: "$gt", Value: ""}}, shard, v)))
	refuse("null as id", bulk(c, shard, v, row(t, nil, shard, v)))
	if outcomes, err := db.Apply(t.Context(), bulk(c, shard, v)); len(outcomes) != 0 || err != nil {
		t.Errorf("an empty bulk: %v, %v", outcomes, err)
	}
}

func mustMarshal(t testing.TB, v any) []byte {
	t.Helper()
	raw, err := bson.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
