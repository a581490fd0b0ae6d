// Package access decides who may see what. In flow the text of an API key from
// a request, and documents on their way out; out flow a [Principal], which
// limits every query, and the documents as that principal may see them.
//
// It keeps law 7 (scoped): whoever has no valid key gets nothing, a principal
// carries its scope into each filter (pkg/query), and personal fields are masked
// here, before any encoder, in the one step that pages, gets and exports share.
//
// Of a key only the SHA-256 of its secret is stored. The secret has 256 random
// bits, so a fast hash is enough and a slow one would only help an attacker who
// wants to keep the server busy. Neither is ever logged.
package access
