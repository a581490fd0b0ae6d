// Package query turns the parameters of a request into finds that one index of
// the read model serves.
//
// In: a [readmodel.Model], the [Reader] who asks, and URL parameters. Out: a
// [Request] with a filter, a sort, the access pattern and the fields to show; or a [Problem]
// that says in one sentence what is wrong and what to ask instead. Nothing here
// touches a server.
//
// What it promises:
//
//   - Law 7, scoped: each filter holds the reader's scope and leaves tombstones
//     out, as clauses of their own that no parameter can reach.
//   - Law 5, exact: values are typed by their field (int64, Decimal128, dates as
//     UTC midnights), so neither a float nor an operator can get in.
//   - Law 6, bounded: a request is served by an access pattern's index or refused;
//     lists, limits and the number of merged index scans are limited.
//   - No page loses a row: null sort keys are a segment of their own.
package query
