package capture

import (
	"prejoin/pkg/cdc"
	"prejoin/pkg/kafka"
)

// shrink replaces the large texts of the envelope in work by the mark of a value that was not sent, if the message would be too
// large for Kafka. An event tells which row changed; the projector reads the row itself, and no key or route is that large.
func (w *writer) shrink(size int) bool {
	if size <= kafka.MaxMessageBytes {
		return false
	}
	for limit := 64 << 10; size > kafka.MaxMessageBytes && limit >= 1<<10; limit /= 4 {
		size -= drop(w.env.Before, limit) + drop(w.env.After, limit)
	}
	w.shard.metrics.shrunk.WithLabelValues(w.shard.name).Inc()
	w.shard.log.Warn("left large texts out of a message that exceeds Kafka's limit", "table", w.env.Schema+"."+w.env.Table, "limit_bytes", kafka.MaxMessageBytes)
	return true
}

func drop(row []cdc.Column, limit int) (saved int) {
	for i := range row {
		if c := &row[i]; c.Form == cdc.Text && len(c.Text) > limit {
			saved += len(c.Text)
			c.Form = cdc.Unsent
		}
	}
	return saved
}
