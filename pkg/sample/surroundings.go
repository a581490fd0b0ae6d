package sample

import (
	"context"
	"math/rand/v2"
	"sort"
	"sync"

	"github.com/jackc/pgx/v5/pgxpool"
)

// surroundings is what a shard's connections know of it together.
type surroundings struct {
	merchants []int64
	weights   []int // running sums, parallel to merchants
	lastSeed  int64 // the highest seeded settlement id below the sequences' start

	mu     sync.Mutex
	recent [512]int64 // settlements made a moment ago: people touch these most
	made   int
}

// lookAround reads the shard's merchants and ids.
func lookAround(ctx context.Context, pool *pgxpool.Pool) (*surroundings, error) {
	s := &surroundings{}
	err := pool.QueryRow(ctx, `SELECT coalesce(array_agg(id ORDER BY id), '{}'), (SELECT coalesce(max(id), 0) FROM settlement WHERE id < 1000000000) FROM merchant`).
		Scan(&s.merchants, &s.lastSeed)
	if err != nil {
		return nil, err
	}
	if len(s.merchants) == 0 {
		return nil, errNoMerchants
	}
	sum, weights := 0, shares(100_000)
	for _, m := range s.merchants {
		if m <= Merchants {
			sum += weights[m]
		}
		s.weights = append(s.weights, sum)
	}
	return s, nil
}

// merchant draws one by the seed's skew.
func (s *surroundings) merchant(r *rand.Rand) int64 {
	at := r.IntN(s.weights[len(s.weights)-1]) + 1
	return s.merchants[sort.SearchInts(s.weights, at)]
}

// someMerchant draws one to be renamed: a small one but for one in twenty, as a
// large one's name stands in very many documents.
func (s *surroundings) someMerchant(r *rand.Rand) int64 {
	small := sort.Search(len(s.merchants), func(i int) bool { return s.merchants[i] > 10 })
	if small == len(s.merchants) || r.IntN(20) == 0 {
		return s.merchants[r.IntN(len(s.merchants))]
	}
	return s.merchants[small+r.IntN(len(s.merchants)-small)]
}

// settlement draws an id at or above which to look: half are recent ones, a few
// of the rest are the giant ids.
func (s *surroundings) settlement(r *rand.Rand) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := min(s.made, len(s.recent)); n > 0 && r.IntN(2) == 0 {
		return s.recent[r.IntN(n)]
	}
	if r.IntN(100) == 0 {
		return giantIDs + r.Int64N(2*s.lastSeed+1)
	}
	return 1 + r.Int64N(s.lastSeed+1)
}

// remember keeps a committed settlement's id.
func (s *surroundings) remember(id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.recent[s.made%len(s.recent)] = id
	s.made++
}
