package projector

import (
	"testing"

	"pgregory.net/rapid"

	"prejoin/pkg/kafka"
	"prejoin/pkg/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

// TestWatermarkNeverPassesAnOpenMessage: in whatever order messages are done,
// the watermark is the offset of the first that is not, and every byte is freed.
func TestWatermarkNeverPassesAnOpenMessage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var freed int64
		tr := newTracker(func(_ kafka.TopicPartition, b int64) { freed += b })
		tp := kafka.TopicPartition{Topic: "t", Partition: 1}
		n := rapid.IntRange(1, 60).Draw(t, "messages")
		holds := make([]int, n)
		receipts := make([]*receipt, n)
		mark := int64(100)
		for i := range n {
			receipts[i] = tr.take(tp, 100+int64(i), 10)
			holds[i] = 1
			for range rapid.IntRange(0, 3).Draw(t, "more holds") {
				receipts[i].hold()
				holds[i]++
			}
		}
		var order []int
		for i, h := range holds {
			for range h {
				order = append(order, i)
			}
		}
		for _, i := range rapid.Permutation(order).Draw(t, "order") {
			receipts[i].release()
			holds[i]--
			if got, moved := tr.watermarks()[tp]; moved {
				mark = got
			}
			want := int64(100)
			for _, h := range holds {
				if h > 0 {
					break
				}
				want++
			}
			if mark != want {
				t.Fatalf("watermark %d, want %d", mark, want)
			}
		}
		if freed != int64(n)*10 || tr.waiting() != 0 {
			t.Fatalf("freed %d of %d bytes, %d messages wait", freed, n*10, tr.waiting())
		}
	})
}
