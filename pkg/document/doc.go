// Package document builds documents from joined rows.
//
// In flow rows in PostgreSQL's text form (children first, then the roots), out
// flow raw BSON documents with their fields in the model's order and the stamp
// `_p` last. A value that the model's type cannot hold exactly is an error,
// never rounded (law 5). Two builds of the same rows give the same bytes, apart
// from the stamp, which is what law 1 is checked by. The package is pure.
package document
