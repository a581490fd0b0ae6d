// Package sample is the sample write side: a Korean payment company's
// settlements on sharded PostgreSQL (docs/sample.md). Nothing of Prejoin needs it
// but the demo, the benches and the tests.
//
// In flow a seed number and a size, or a rate; out flow rows. Migrate makes the
// tables of one shard, Seed fills empty shards with COPY, Workload changes them
// as the company's own applications would.
//
// It promises: the same seed gives the same rows; the skew is exact; ids are
// unique over all shards; and after every transaction, for each settlement,
// amount = payment_amount - Σ (line amount + line vat).
package sample
