// Package refresh is the read-and-write path that all of the write side shares:
// live changes, fan-outs and long jobs.
//
// In flow document ids of one shard, out flow conditional writes to MongoDB of
// what the shard's SQL returns for them now, under the rank of the snapshot and
// the epoch of the shard's incarnation. An outage is waited for; whatever else
// fails stops the caller. It keeps laws 1 and 2: what it wrote last is what one
// snapshot showed, and a newer document is never overwritten.
package refresh
