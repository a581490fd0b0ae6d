package testenv

import (
	"regexp"
	"strings"
	"testing"

	"prejoin/pkg/devstack"
)

var notWord = regexp.MustCompile(`[^a-z0-9]+`)

// Name is unique and fits a database, a replication slot, a topic and a
// consumer group: t_<the test's name>_<random>, at most 43 of a-z, 0-9 and _.
func Name(t testing.TB) string {
	word := strings.Trim(notWord.ReplaceAllString(strings.ToLower(t.Name()), "_"), "_")
	return "t_" + word[:min(len(word), 32)] + "_" + devstack.Secret()[:8]
}
