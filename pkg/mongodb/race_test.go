package mongodb_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"go.mongodb.org/mongo-driver/bson"

	"prejoin/pkg/mongodb"
)

// Law 2: eight writers send random versions of few ids, rows and tombstones
// mixed, from nothing, so that upserts race. Whatever the order, the highest
// version stands at the end, no error is seen, and no reader sees a version fall.
func TestRacingWritersNeverRegress(t *testing.T) {
	const writers, rounds, ids = 8, 60, 12
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	db := open(t)
	c := clock(t, db)

	var mu sync.Mutex
	highest := map[int64]mongodb.Version{}
	stop := make(chan struct{})
	var watcher, running sync.WaitGroup
	watcher.Go(func() { watchForRegress(t, db, stop) })
	for w := range writers {
		running.Go(func() {
			random := rand.New(rand.NewPCG(seed, uint64(w)))
			for range rounds {
				v := version(1+random.Int64N(2), 1+random.Int64N(1000))
				writes := randomWrites(t, random, v, ids)
				if _, err := db.Apply(t.Context(), bulk(c, shard, v, writes...)); err != nil {
					t.Errorf("Apply: %v", err)
					return
				}
				mu.Lock()
				for _, w := range writes {
					if id := w.ID.Int64(); highest[id].Less(v) {
						highest[id] = v
					}
				}
				mu.Unlock()
			}
		})
	}
	running.Wait()
	close(stop)
	watcher.Wait()
	for id, want := range highest {
		if got := rankOf(stored(t, db, id)); got != want {
			t.Errorf("id %d: version %+v at the end, want the highest, %+v", id, got, want)
		}
	}
}

func randomWrites(t *testing.T, random *rand.Rand, v mongodb.Version, ids int) []mongodb.Write {
	var writes []mongodb.Write
	for _, id := range random.Perm(ids)[:1+random.IntN(ids)] {
		// Rows of one version are equal wherever they are read, gone ones too.
		if (v.Rank+int64(id))%3 == 0 {
			writes = append(writes, gone(t, int64(id)))
		} else {
			writes = append(writes, row(t, int64(id), shard, v, bson.E{Key: "name", Value: fmt.Sprint(v)}))
		}
	}
	return writes
}

func rankOf(doc bson.Raw) mongodb.Version {
	if doc == nil {
		return mongodb.Version{}
	}
	return version(doc.Lookup("_p", "v", "e").Int64(), doc.Lookup("_p", "v", "r").Int64())
}

func watchForRegress(t *testing.T, db *mongodb.DB, stop <-chan struct{}) {
	seen := map[int64]mongodb.Version{}
	for {
		select {
		case <-stop:
			return
		default:
		}
		for _, doc := range all(t, db, mongodb.Find{Collection: collection}) {
			id, v := doc.Lookup("_id").Int64(), rankOf(doc)
			if v.Less(seen[id]) {
				t.Errorf("id %d fell from %+v to %+v", id, seen[id], v)
			}
			seen[id] = v
		}
	}
}
