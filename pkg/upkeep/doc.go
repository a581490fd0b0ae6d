// Package upkeep is the long jobs of an operator: backfill, which reads every
// document of the shards and writes it, and verify, which compares every
// document with the shards.
//
// In flow walks over shards and models, out flow progress and a report. They
// share the live path's reads and writes (pkg/refresh), so that they may run
// beside live changes and be run again at any time: laws 1 and 2.
package upkeep
