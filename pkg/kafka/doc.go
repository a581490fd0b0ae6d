// Package kafka adapts segmentio/kafka-go: messages in and out, offsets, topics, and a consumer group whose
// offsets are committed by the generation that fetched them. No type of the vendor leaves it.
//
// A consumer joins by Group.Next, fetches each assigned partition by Generation.Fetch from an offset of its own choice,
// and commits by Generation.Commit. When the generation ends, its context ends with ErrOwnershipLost and whatever is
// queued of it is to be dropped; commits are still accepted until Release, at most for GroupConfig.Drain.
//
// It promises that no message is skipped (law 3): an offset that the broker no longer has, or does not have yet, is
// ErrOffsetOutOfRange and never a jump; a partition without a committed offset starts at the earliest. Send returns only
// when every message was written by all in-sync replicas, and keeps the order of messages with the same key.
package kafka
