package sample

import (
	"math/rand/v2"
	"slices"
)

// Merchants is their number; their ids are 1 to Merchants.
const Merchants = 500

// The field's skew: the largest merchant has 2 % of all settlements, the ten
// largest 7 %. These are the weights of the nine behind the first.
var nextNine = []int{77, 70, 64, 58, 54, 50, 46, 42, 39}

// shares deals n settlements out to the merchants: element m is the number of
// merchant m (element 0 is unused). Exact where n is a multiple of 100, else
// rounded down for the ten largest.
func shares(n int) []int {
	out := make([]int, Merchants+1)
	out[1] = n * 2 / 100
	copy(out[2:11], apportion(n*7/100-out[1], nextNine))
	copy(out[11:], apportion(n-n*7/100, restWeights()))
	return out
}

// restWeights vary by ±25 %, the same in every seed.
func restWeights() []int {
	weights := make([]int, Merchants-10)
	for i := range weights {
		weights[i] = 75 + int(mix(uint64(i))%51)
	}
	return weights
}

// apportion splits n by weights so that the parts add up to n: each gets its
// share rounded down, what is left goes one by one to the largest remainders.
func apportion(n int, weights []int) []int {
	sum := 0
	for _, w := range weights {
		sum += w
	}
	parts, order, left := make([]int, len(weights)), make([]int, len(weights)), n
	for i, w := range weights {
		parts[i], order[i] = n*w/sum, i
		left -= parts[i]
	}
	slices.SortStableFunc(order, func(a, b int) int { return n*weights[b]%sum - n*weights[a]%sum })
	for _, i := range order[:left] {
		parts[i]++
	}
	return parts
}

// shardOf is the shard that holds a merchant. Uneven on purpose, as in the field:
// of two shards the first has eight of the ten largest and 55 % of all.
func shardOf(merchant, shards int) int {
	if shards == 1 || merchant <= 10 && merchant != 4 && merchant != 9 {
		return 0
	}
	if merchant <= 10 {
		return 1
	}
	h := mix(uint64(merchant) + 7_000)
	if first := 1000/uint64(shards) + 4; h%1000 < first {
		return 0
	}
	return 1 + int(h/1000%uint64(shards-1))
}

// slots says which merchant each settlement belongs to, in the order of time:
// the merchants' settlements lie mixed in the tables, as they do in real ones.
// Two bytes a settlement is all the memory that grows with the seed's size.
func slots(n int, seed uint64) []uint16 {
	out := make([]uint16, 0, n)
	for merchant, count := range shares(n) {
		for range count {
			out = append(out, uint16(merchant))
		}
	}
	r := rand.New(rand.NewPCG(seed, 1))
	r.Shuffle(n, func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

// mix is splitmix64's finalizer: a fixed hash, so that maps and shares never
// move with a library's random numbers.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
