package sample

import (
	"math/rand/v2"
	"time"
)

// Where seeded ids lie. The three kinds never share an id, so that a join over
// the wrong column finds nothing. All stay below the sequences' start (one
// billion), but for the giants.
const (
	maxSettlements = 100_000_000
	paymentIDs     = 300_000_000
	orderIDs       = 500_000_000
	linesPerDeal   = 8
	// giantIDs begin where a double no longer holds each integer; they are odd,
	// and above the sequences' end.
	giantIDs = 1<<53 + 1
)

// generator makes the seed's deals from their slot number. plain is pure, so a
// cancellation makes its original again instead of keeping it.
type generator struct {
	seed  uint64
	slots []uint16
}

// each walks one shard's deals in the order of time. The deal is the callee's
// until it returns.
func (g generator) each(shard, shards int, use func(*deal) error) error {
	var last [Merchants + 1]int // slot + 1 of the merchant's newest deal that may be cancelled
	for i, m := range g.slots {
		if shardOf(int(m), shards) != shard {
			continue
		}
		d := g.next(i, &last[m])
		if err := use(&d); err != nil {
			return err
		}
	}
	return nil
}

// next is slot i's deal: three in a hundred cancel the merchant's one before.
func (g generator) next(i int, last *int) deal {
	if *last == 0 || mix(g.seed^mix(uint64(i)))%100 >= 3 {
		*last = i + 1
		return g.plain(i)
	}
	original := g.plain(*last - 1)
	*last = 0
	return number(original.cancel(g.settled(i), baseDay), i)
}

func (g generator) plain(i int) deal {
	r := rand.New(rand.NewPCG(g.seed, mix(uint64(i))))
	gross := amountOf(r)
	if i%1000 == 101 {
		gross = hugeAmount(r, i%5000 == 101)
	}
	d := makeDeal(r, gross, g.settled(i), baseDay)
	d.merchant, d.order, d.payment = int64(g.slots[i]), orderIDs+2*int64(i), paymentIDs+int64(i)
	return number(d, i)
}

// settled spreads the slots evenly over the days before the base date.
func (g generator) settled(i int) time.Time {
	step := seedDays * 24 * time.Hour / time.Duration(len(g.slots))
	within := time.Duration(mix(g.seed+uint64(i)) % uint64(step))
	return (baseDay - seedDays).at(time.Duration(i)*step + within).Truncate(time.Microsecond)
}

func number(d deal, i int) deal {
	d.id = int64(i) + 1
	if i%1000 == 300 {
		d.id = giantIDs + 2*int64(i)
	}
	for k := range d.lines {
		d.lines[k].id = int64(i)*linesPerDeal + int64(k) + 1
	}
	return d
}
