package kafka

import (
	"cmp"
	"slices"
	"strings"

	kafkago "github.com/segmentio/kafka-go"
)

// balancer deals the partitions of all topics out in turn. Both balancers of
// kafka-go start each topic anew with the first member (its round robin too,
// checked with 0.4.51), so that of eight members on topics of four partitions
// four would own everything and four nothing.
type balancer struct{}

// ProtocolName is the one that kafka-go offers by default too: members of
// both kinds can share a group while they are replaced one by one.
func (balancer) ProtocolName() string { return "roundrobin" }

func (balancer) UserData() ([]byte, error) { return nil, nil }

func (balancer) AssignGroups(members []kafkago.GroupMember, partitions []kafkago.Partition) kafkago.GroupMemberAssignments {
	members, partitions = slices.Clone(members), slices.Clone(partitions)
	slices.SortFunc(members, func(a, b kafkago.GroupMember) int { return strings.Compare(a.ID, b.ID) })
	slices.SortFunc(partitions, func(a, b kafkago.Partition) int {
		return cmp.Or(strings.Compare(a.Topic, b.Topic), cmp.Compare(a.ID, b.ID))
	})
	assigned := kafkago.GroupMemberAssignments{}
	for _, m := range members {
		assigned[m.ID] = map[string][]int{}
	}
	turn := 0
	for _, p := range partitions {
		if i := subscriber(members, turn, p.Topic); i >= 0 {
			of := assigned[members[i].ID]
			of[p.Topic] = append(of[p.Topic], p.ID)
			turn = i + 1
		}
	}
	return assigned
}

// subscriber is the first member from turn on, around the circle, that reads
// the topic; -1: none.
func subscriber(members []kafkago.GroupMember, turn int, topic string) int {
	for i := range members {
		at := (turn + i) % len(members)
		if slices.Contains(members[at].Topics, topic) {
			return at
		}
	}
	return -1
}
