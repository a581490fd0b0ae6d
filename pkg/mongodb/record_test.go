package mongodb_test

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"prejoin/pkg/mongodb"
)

func TestEpochIsRaisedByOneOfMany(t *testing.T) {
	db := open(t)
	if _, err := db.Shard(t.Context(), shard); !errors.Is(err, mongodb.ErrNotFound) {
		t.Fatalf("an unknown shard: %v", err)
	}
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			_, err := db.RegisterShard(t.Context(), mongodb.ShardRecord{Name: shard, Incarnations: []string{fmt.Sprint("i", i)}, SystemIdentifier: "s", Timeline: 1})
			if err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	seen, err := db.Shard(t.Context(), shard)
	if err != nil || seen.Epoch != 1 || len(seen.Incarnations) != 1 {
		t.Fatalf("%+v, %v", seen, err)
	}
	if current, err := db.RecordRank(t.Context(), shard, 1, 900); err != nil || !current {
		t.Fatalf("recording a rank: %v, %v", current, err)
	}
	var raised atomic.Int32
	for i := range 8 {
		group.Go(func() {
			next := *seen
			next.Incarnations = append(seen.Incarnations[:1:1], fmt.Sprint("j", i))
			next.HighestRank = 17
			stored, mine, err := db.RaiseEpoch(t.Context(), *seen, next)
			if err != nil || stored.Epoch != 2 {
				t.Errorf("%+v, %v", stored, err)
			}
			if mine {
				raised.Add(1)
			}
		})
	}
	group.Wait()
	if raised.Load() != 1 {
		t.Errorf("raised by %d, want 1", raised.Load())
	}
	if current, err := db.RecordRank(t.Context(), shard, 1, 901); err != nil || current {
		t.Errorf("the old epoch still counts: %v, %v", current, err)
	}
	for _, rank := range []int64{30, 25} {
		if current, err := db.RecordRank(t.Context(), shard, 2, rank); err != nil || !current {
			t.Errorf("rank %d: %v, %v", rank, current, err)
		}
	}
	all, err := db.Shards(t.Context())
	if err != nil || len(all) != 1 || all[0].HighestRank != 30 || len(all[0].Incarnations) != 2 {
		t.Errorf("%+v, %v", all, err)
	}
}

func TestWatermarksAreOfOneGroup(t *testing.T) {
	db := open(t)
	type marks = map[mongodb.TopicPartition]int64
	store := func(group string, next marks) {
		t.Helper()
		if err := db.StoreWatermarks(t.Context(), group, next); err != nil {
			t.Fatal(err)
		}
	}
	a := mongodb.TopicPartition{Topic: "shard0.public.settlement", Partition: 3}
	b := mongodb.TopicPartition{Topic: "shard0.public.orders", Partition: 0}
	store("g", marks{a: 10, b: 7})
	store("g", marks{a: 4}) // a recreated topic begins again
	store("g/x", marks{a: 99})
	store("g0", marks{a: 99})
	store(".*", marks{a: 99})
	store("g", nil)
	for group, want := range map[string]marks{"g": {a: 4, b: 7}, "g/x": {a: 99}, "none": {}, ".*": {a: 99}} {
		got, err := db.Watermarks(t.Context(), group)
		if err != nil || !maps.Equal(got, want) {
			t.Errorf("group %q: %v, %v, want %v", group, got, err, want)
		}
	}
}

func TestKeysAreStoredReadAndRevoked(t *testing.T) {
	db := open(t)
	created := time.UnixMilli(1_700_000_000_123).UTC()
	one := mongodb.Key{ID: "aaaaaaaaaaaa", Hash: make([]byte, 32), Name: "정산팀", Created: created,
		Scopes: map[string][]any{"merchant": {int64(1), int64(2)}, "region": {"$all"}}}
	two := mongodb.Key{ID: "bbbbbbbbbbbb", Hash: make([]byte, 32), Name: "operators", Created: created, All: true}
	for _, k := range []mongodb.Key{one, two} {
		if err := db.InsertKey(t.Context(), k); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.InsertKey(t.Context(), one); err == nil || mongodb.Temporary(err) {
		t.Errorf("the same id again: %v", err)
	}
	for _, want := range []mongodb.Key{one, two} {
		if got, err := db.Key(t.Context(), want.ID); err != nil || !reflect.DeepEqual(*got, want) {
			t.Errorf("got %+v, %v\nwant %+v", got, err, want)
		}
	}
	for range 2 {
		if err := db.RevokeKey(t.Context(), one.ID); err != nil {
			t.Fatal(err)
		}
	}
	keys, err := db.Keys(t.Context())
	if err != nil || len(keys) != 2 || keys[0].Revoked.IsZero() || !keys[1].Revoked.IsZero() {
		t.Errorf("%+v, %v", keys, err)
	}
	for _, id := range []string{"", "nobody", "$ne"} {
		if _, err := db.Key(t.Context(), id); !errors.Is(err, mongodb.ErrNotFound) {
			t.Errorf("key %q: %v", id, err)
		}
	}
	if err := db.RevokeKey(t.Context(), "nobody"); !errors.Is(err, mongodb.ErrNotFound) {
		t.Errorf("revoking nobody: %v", err)
	}
}

func TestKeysThatLimitNothingAreRefused(t *testing.T) {
	db := open(t)
	for name, k := range map[string]mongodb.Key{
		"neither all nor scopes": {},
		"both":                   {All: true, Scopes: map[string][]any{"merchant": {int64(1)}}},
		"a scope of nothing":     {Scopes: map[string][]any{"merchant": {}}},
		"a scope of a document":  {Scopes: map[string][]any{"merchant": {map[string]any{"$gt": 0}}}},
	} {
		k.ID, k.Hash = "aaaaaaaaaaaa", make([]byte, 32)
		if err := db.InsertKey(t.Context(), k); err == nil {
			t.Errorf("%s was stored", name)
		}
	}
	if err := db.InsertKey(t.Context(), mongodb.Key{ID: "aaaaaaaaaaaa", All: true, Hash: []byte("the secret itself")}); err == nil {
		t.Error("something that is no SHA-256 was stored")
	}
}
