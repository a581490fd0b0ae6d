package sample

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// loadReference fills what is the same on every shard (partners, the shard map)
// and this shard's merchants, whose number it returns.
func loadReference(ctx context.Context, conn *pgx.Conn, shard, shards int, seed uint64) (here int64, err error) {
	var partners, homes, merchants row
	for id := 1; id <= Partners; id++ {
		partners.int(int64(id))
		partners.text(partnerName(id))
		partners.end()
	}
	for id := 1; id <= Merchants; id++ {
		home := shardOf(id, shards)
		homes.int(int64(id))
		homes.text(fmt.Sprintf("shard%d", home))
		homes.end()
		if home == shard {
			merchants.merchant(makeMerchant(id, seed))
			here++
		}
	}
	if err := copyInto(ctx, conn, "partner", &partners); err != nil {
		return 0, err
	}
	if err := copyInto(ctx, conn, "shard_map", &homes); err != nil {
		return 0, err
	}
	return here, copyInto(ctx, conn, "merchant", &merchants)
}

func (r *row) merchant(m merchant) {
	r.int(m.id)
	if m.partner == 0 {
		r.null()
	} else {
		r.int(m.partner)
	}
	for _, v := range []string{m.name, m.bizNo, m.bank, m.acct, m.holder} {
		r.text(v)
	}
	r.time(m.created)
	r.time(m.created)
	r.end()
}
