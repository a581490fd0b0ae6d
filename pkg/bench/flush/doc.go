// Package flush is the bench of how often an export flushes. The same NDJSON
// goes through Echo and a loopback connection to a client that reads it all;
// only the number of rows between two flushes differs. In flow a model; out
// flows a bench.
package flush
