// Package projector is the live loop: it keeps documents up to date with the
// change events of the shards.
//
//	fetch (one a partition) ─▶ decode ─▶ route ─▶ lane (one a shard and model: coalesce by id)
//	  ─▶ workers: re-read, write ─▶ tracker (contiguous watermark a partition) ─▶ commit
//
// An event is an invalidation, never data. In flow Kafka messages, out flow
// refreshes of the documents they touch. It promises law 3: an offset is
// committed only after every message up to it was applied or made superfluous
// by a newer read under the same epoch, and only by the generation that fetched
// it. An outage pauses; what cannot be done by trying again stops the process.
package projector
