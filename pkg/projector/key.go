package projector

import (
	"slices"
	"time"

	"prejoin/pkg/postgres"
)

// key is something to read again, such as a document id, with the messages
// that wait for it and the transactions that a snapshot must see first.
type key struct {
	receipts []*receipt
	relays   []*relay
	xids     []uint32
	since    time.Time // when the oldest change of it came
	asked    time.Time // when the shard was last asked about its transactions
}

// add notes a change's message and transaction; a snapshot event has none,
// because a committed SELECT saw its row.
func (k *key) add(r *receipt, xid uint32, hasXID bool) {
	k.receipts = append(k.receipts, r.hold())
	if hasXID && !slices.Contains(k.xids, xid) {
		k.xids = append(k.xids, xid)
	}
}

// merge takes over another key's messages and transactions.
func (k *key) merge(o *key) {
	k.receipts = append(k.receipts, o.receipts...)
	k.relays = append(k.relays, o.relays...)
	for _, x := range o.xids {
		if !slices.Contains(k.xids, x) {
			k.xids = append(k.xids, x)
		}
	}
	if o.since.Before(k.since) {
		k.since, k.asked = o.since, o.asked
	}
}

// seen strikes the transactions that the snapshot sees, and tells whether none is left.
func (k *key) seen(s postgres.Snapshot) bool {
	k.xids = slices.DeleteFunc(k.xids, s.Sees)
	return len(k.xids) == 0
}

// done releases the messages.
func (k *key) done() {
	for _, r := range k.receipts {
		r.release()
	}
	for _, r := range k.relays {
		r.done()
	}
	k.receipts, k.relays = nil, nil
}

// relay passes the messages of a lookup on to the ids that it found: they are
// released when the last of the ids is done. It belongs to one lane's goroutine.
type relay struct {
	receipts []*receipt
	left     int // ids that are not done
}

func (r *relay) done() {
	if r.left--; r.left > 0 {
		return
	}
	for _, receipt := range r.receipts {
		receipt.release()
	}
}
