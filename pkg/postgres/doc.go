// Package postgres reads from the shards: joined rows of a batch of ids in one
// snapshot, the ids that a changed row touches, and the shard's incarnation.
//
// In flow ids, out flow rows in PostgreSQL's text form with the snapshot that
// they were read in. Each read is one round trip on one connection:
//
//	BEGIN, SET LOCAL …, LOCK, snapshot, queries, COMMIT, flush position
//
// The locks are taken before the snapshot, because TRUNCATE and a rewriting
// ALTER are not MVCC-safe: a snapshot older than such a statement sees an empty
// table. Nothing is prepared between BEGIN and LOCK, and no statement has a
// name, so that it works behind a transaction-mode pooler. It returns only when
// what it read is durable, so that a crash cannot take back what was projected.
// This package keeps its part of laws 1 and 2. Vendor types stop here.
package postgres
