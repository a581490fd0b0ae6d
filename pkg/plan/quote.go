package plan

import (
	"regexp"
	"strings"
)

var plainName = regexp.MustCompile(`^[a-z_][a-z0-9_]*$`)

// quote writes a name as SQL reads it; a plain one stays as it is, since people
// are to recognise it.
func quote(name string) string {
	if plainName.MatchString(name) {
		return name
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

func quoteTable(name string) string {
	schema, table, _ := strings.Cut(name, ".")
	return quote(schema) + "." + quote(table)
}

func quoteAll(names []string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = quote(n)
	}
	return strings.Join(quoted, ", ")
}
