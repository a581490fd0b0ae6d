// Package bench times variants of the same work against each other on this
// machine. In flow named benches, each with two or more variants; out flow JSON
// lines (one a round and variant, one summary a bench) and a table for people.
//
// It promises that no time is taken of variants that do not yield the same
// result (parity before time), and that rounds are interleaved (A B A B), so
// that a machine that slows down slows all variants alike. Ratios are medians of
// ratios within a round; the figures of one variant alone say little.
package bench
