package testenv

import (
	"testing"

	"prejoin/pkg/devstack"
)

// Kafka starts a kfake broker for this test alone and returns its addresses.
// Topics have 4 partitions and are created by their first use. It lives in this
// process and costs a few milliseconds.
func Kafka(t testing.TB) []string {
	t.Helper()
	k, err := devstack.StartKafka()
	if err != nil {
		t.Fatalf("testenv: %v", err)
	}
	t.Cleanup(k.Close)
	return k.Brokers()
}
