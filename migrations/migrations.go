// Package migrations holds the SQL that a shard needs, as goose files.
//
// Two folders, because they have two owners: postgres/prejoin is what Prejoin
// itself needs on any shard (schema, roles, publication); postgres/sample is the
// bundled write side, which a team with its own schema leaves out.
//
// The files go forward only. They hold no secrets: the roles have no password,
// whoever runs the cluster sets one.
package migrations

import (
	"embed"
	"io/fs"
)

//go:embed postgres/prejoin/*.sql postgres/sample/*.sql
var files embed.FS

// Prejoin returns what Prejoin needs on every shard. It comes first, and psql
// runs it as well as goose does.
func Prejoin() fs.FS { return sub("postgres/prejoin") }

// Sample returns the sample write side. It needs the setting `prejoin.shard`
// (the shard's index, 0 to 63) in its session.
func Sample() fs.FS { return sub("postgres/sample") }

func sub(dir string) fs.FS {
	part, err := fs.Sub(files, dir)
	if err != nil {
		panic(err) // the folder is embedded: only a typo here can fail
	}
	return part
}
