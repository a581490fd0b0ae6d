// Package readmodel is the contract between the two daemons: the text of a
// model file goes in, a checked Model comes out, or every fault of the file
// with its line, its column and what to write instead.
//
// It promises that a Model is complete (no key missing, none unknown, none
// twice), that its names resolve, that its SQL has the placeholders its place
// asks for, and that a hostile file costs bounded time and memory. What only a
// database can tell (types of columns, replica identities, indexes) is checked
// by package plan. The package keeps law 3 from the front: a model that could
// lose a change in silence is refused before a byte of data moves.
//
// docs/model.md is the reference of the file, with an example of each error.
package readmodel
