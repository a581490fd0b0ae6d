// Package route turns a change into what must be read again.
//
// In flows a decoded change, out flow the document ids it names, the lookups
// that find more, and whether a whole table must be walked. A route uses only
// columns of the table's replica identity, so that an update or delete names the
// old and the new parent (law 3). The package is pure.
package route
