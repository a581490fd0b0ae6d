package kafka

import (
	"fmt"
	"testing"

	kafkago "github.com/segmentio/kafka-go"
	"pgregory.net/rapid"
)

func dealt(members []kafkago.GroupMember, partitions []kafkago.Partition) (counts map[string]int, owners map[string]int) {
	counts, owners = map[string]int{}, map[string]int{}
	for id, topics := range (balancer{}).AssignGroups(members, partitions) {
		for topic, list := range topics {
			for _, p := range list {
				counts[id]++
				owners[fmt.Sprint(topic, "/", p)]++
			}
		}
	}
	return counts, owners
}

// TestNoMemberIsIdleWhilePartitionsAreLeft: few partitions a topic, many topics.
func TestNoMemberIsIdleWhilePartitionsAreLeft(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var members []kafkago.GroupMember
		var partitions []kafkago.Partition
		var topics []string
		for i := range rapid.IntRange(1, 8).Draw(t, "topics") {
			topics = append(topics, fmt.Sprint("topic", i))
			for p := range rapid.IntRange(1, 5).Draw(t, "partitions") {
				partitions = append(partitions, kafkago.Partition{Topic: topics[i], ID: p})
			}
		}
		n := rapid.IntRange(1, 12).Draw(t, "members")
		for i := range n {
			members = append(members, kafkago.GroupMember{ID: fmt.Sprint("m", i), Topics: topics})
		}
		counts, owners := dealt(members, partitions)
		if len(owners) != len(partitions) {
			t.Fatalf("%d of %d partitions have an owner", len(owners), len(partitions))
		}
		for _, m := range members {
			if c := counts[m.ID]; c < len(partitions)/n || c > (len(partitions)+n-1)/n {
				t.Fatalf("%s owns %d of %d partitions among %d members", m.ID, c, len(partitions), n)
			}
		}
	})
}

// TestDealsATopicOnlyToItsReaders: members may know of different topics while one appears.
func TestDealsATopicOnlyToItsReaders(t *testing.T) {
	members := []kafkago.GroupMember{{ID: "b", Topics: []string{"a"}}, {ID: "a", Topics: []string{"a", "new"}}}
	partitions := []kafkago.Partition{{Topic: "new", ID: 0}, {Topic: "a", ID: 1}, {Topic: "new", ID: 1}, {Topic: "a", ID: 0}, {Topic: "nobody's", ID: 0}}
	got := fmt.Sprint((balancer{}).AssignGroups(members, partitions))
	if want := "map[a:map[a:[0] new:[0 1]] b:map[a:[1]]]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
