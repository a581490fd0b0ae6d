package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/segmentio/kafka-go"
)

// Only a whole answer without an error may say that the group has caught up.
func TestBehind(t *testing.T) {
	type committed = []kafka.OffsetFetchPartition
	ends := offsets{"t": {0: 5, 1: 0, 2: 7}}
	f := func(answer kafka.OffsetFetchResponse, want int64, wantErr string) {
		t.Helper()
		n, err := ends.minus(&answer)
		if n != want || (err == nil) != (wantErr == "") || err != nil && !strings.Contains(err.Error(), wantErr) {
			t.Errorf("%+v: %d, %v; want %d, %q", answer, n, err, want, wantErr)
		}
	}
	at := func(p committed) kafka.OffsetFetchResponse {
		return kafka.OffsetFetchResponse{Topics: map[string][]kafka.OffsetFetchPartition{"t": p}}
	}
	f(at(committed{{Partition: 0, CommittedOffset: 5}, {Partition: 1, CommittedOffset: -1}, {Partition: 2, CommittedOffset: 7}}), 0, "")
	f(at(committed{{Partition: 0, CommittedOffset: 5}, {Partition: 1, CommittedOffset: -1}, {Partition: 2, CommittedOffset: 9}}), 0, "")
	f(at(committed{{Partition: 0, CommittedOffset: 4}, {Partition: 2, CommittedOffset: -1}}), 8, "")
	f(at(committed{{Partition: 0, CommittedOffset: 5}}), 7, "") // 2 is absent
	f(kafka.OffsetFetchResponse{}, 12, "")
	f(at(committed{{Partition: 0, CommittedOffset: 5}, {Partition: 2, Error: errors.New("not now")}}), 0, "t/2: not now")
	f(kafka.OffsetFetchResponse{Error: kafka.NotCoordinatorForGroup}, 0, "Not Coordinator")
}

func TestEnds(t *testing.T) {
	ask := map[string][]kafka.OffsetRequest{"t": {kafka.LastOffsetOf(0), kafka.LastOffsetOf(1)}}
	f := func(want int, wantErr string, partitions ...kafka.PartitionOffsets) {
		t.Helper()
		found, err := ends(ask, &kafka.ListOffsetsResponse{Topics: map[string][]kafka.PartitionOffsets{"t": partitions}})
		if len(found["t"]) != want || (err == nil) != (wantErr == "") || err != nil && !strings.Contains(err.Error(), wantErr) {
			t.Errorf("%+v: %v, %v; want %d, %q", partitions, found, err, want, wantErr)
		}
	}
	f(2, "", kafka.PartitionOffsets{Partition: 0, LastOffset: 3}, kafka.PartitionOffsets{Partition: 1})
	f(0, "t/1: the broker's answer lacks it", kafka.PartitionOffsets{Partition: 0, LastOffset: 3})
	f(0, "t/1: gone", kafka.PartitionOffsets{Partition: 0, LastOffset: 3}, kafka.PartitionOffsets{Partition: 1, Error: errors.New("gone")})
}
