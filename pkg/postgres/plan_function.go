package postgres

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

var call = regexp.MustCompile(`(?:"((?:[^"]|"")+)"|([A-Za-z_\x80-\xff][A-Za-z0-9_$\x80-\xff]*))\s*\(`)

// calls are the names before an opening parenthesis. It may find too many (in a
// text literal, say): only those that are functions of the database count.
func calls(sql string) []string {
	var names []string
	for _, m := range call.FindAllStringSubmatch(sql, -1) {
		name := strings.ReplaceAll(m[1], `""`, `"`)
		if name == "" {
			name = strings.ToLower(m[2])
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// functions returns those of the names that may read tables which no plan
// shows: functions outside the system's schemas that are not immutable.
func (in *inspector) functions(names []string) ([]string, error) {
	rows, err := in.conn.Query(in.ctx, `SELECT DISTINCT n.nspname || '.' || p.proname
  FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace JOIN pg_language l ON l.oid = p.prolang
 WHERE p.proname = ANY($1) AND p.provolatile <> 'i' AND l.lanname NOT IN ('internal', 'c') AND n.nspname NOT IN ('pg_catalog', 'information_schema')
 ORDER BY 1`, names)
	if err != nil {
		return nil, fmt.Errorf("looking up functions: %w", err)
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}
