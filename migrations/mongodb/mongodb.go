// Package mongodb holds what Prejoin itself needs in MongoDB, as JSON that
// pkg/mongodb applies: its own records, and what every collection of documents
// has beside the indexes of its access patterns. The files go forward only.
package mongodb

import _ "embed"

var (
	// Own is prejoin.json: the _prejoin.* collections and their indexes.
	//go:embed prejoin.json
	Own []byte
	// Documents is documents.json: the indexes of each collection of documents.
	//go:embed documents.json
	Documents []byte
)
