// Package wal streams the committed changes of one shard out of its replication slot, by PostgreSQL's pgoutput plugin.
//
// Out flow events in commit order: begin, rows, truncates, commit, and how far the shard has been read when it is idle. In flows,
// by Confirm, how far everything before is safe; only up to there does the shard forget. A transaction that is not yet committed, or
// was rolled back, never appears (protocol 1), so a transaction of any size passes row by row.
//
// It promises that nothing is skipped (law 3): a slot that is gone, or that went on without this reader, is ErrSlotLost and never
// created anew in silence. That a slot once existed is remembered in the shard itself, as row 2 of prejoin.heartbeat.
package wal
