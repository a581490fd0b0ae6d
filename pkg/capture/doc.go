// Package capture publishes the shards' changes to Kafka, in place of Debezium.
//
//	slot ─▶ read ─▶ envelope ─▶ queue ─▶ send (acks=all) ─▶ confirm
//
// In flow the committed changes of each shard's replication slot; out flow Debezium's envelopes, one message a row, on the topic
// <shard>.<schema>.<table>, and a heartbeat on __debezium-heartbeat.<shard>. It corresponds to Debezium with JSON without schemas,
// decimal.handling.mode=string, heartbeat.action.query and skipped.operations=none; dates, times and bytes are PostgreSQL's text.
//
// It promises that a change is confirmed to its shard only when Kafka has it on all in-sync replicas, with everything before it
// (law 3): after a crash changes arrive again, none is lost. A lost slot stops its shard and is never created anew in silence.
// Memory is bounded by the queue, not by the size of a transaction (law 6). An idle shard's change is in Kafka a few milliseconds
// after its commit: what is read is sent as soon as the send before has been acknowledged, alone or with what has gathered meanwhile.
package capture
