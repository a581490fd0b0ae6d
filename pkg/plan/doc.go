// Package plan says what a model file means on the shards before a byte moves:
// the topics, what the SQL reads and costs, the replica identities, the indexes,
// and what stands in the way, each with the statement to run.
//
// In flow a checked model and what each shard says of its SQL (package
// postgres), out flows a report for a terminal or as JSON. It keeps law 3 at the
// source: a table that the SQL reads and no route names, a replica identity
// without a route's column, an unpublished table — each would lose changes
// without a trace, so each is refused here. It changes nothing anywhere.
package plan
