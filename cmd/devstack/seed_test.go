package main

import (
	"slices"
	"strings"
	"testing"
)

// The sample's shards are told by name, for their ids are interleaved by index.
func TestSampleShards(t *testing.T) {
	f := func(flags []string, want []string, wantErr string) {
		t.Helper()
		got, err := sampleShards(flags)
		if !slices.Equal(got, want) || (err == nil) != (wantErr == "") || err != nil && !strings.Contains(err.Error(), wantErr) {
			t.Errorf("sampleShards(%q) = %q, %v; want %q, %q", flags, got, err, want, wantErr)
		}
	}
	f([]string{"shard1=b", "shard0=a"}, []string{"a", "b"}, "")
	f([]string{"shard0=a", "shard2=b"}, nil, "none is called shard1")
	f([]string{"seoul=a"}, nil, "none is called shard0")

	many := make([]string, 11) // shard10 sorts before shard2 by name
	var want []string
	for i := range many {
		many[i] = "shard" + string(rune('0'+i%10)) + "=" + string(rune('a'+i))
		want = append(want, string(rune('a'+i)))
	}
	many[10] = "shard10=k"
	f(many, want, "")
}
