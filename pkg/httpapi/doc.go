// Package httpapi is the HTTP edge of the read side. In flow requests; out flow
// pages, single documents, exports and problems (RFC 9457).
//
//	request ▶ limits ▶ key ▶ parameters (pkg/query) ▶ find ▶ view (pkg/access) ▶ encode (pkg/export) ▶ bytes
//
// What it promises:
//
//   - Law 4, complete or visibly broken: an answer in one piece is rendered before
//     its status is written; an export that fails after its first byte ends by
//     http.ErrAbortHandler, so that no client sees a clean end; HTTP/1.0, whose
//     bodies end with the connection, is refused for exports.
//   - Law 6, bounded: requests, pages, exports at once and a client's silence
//     have limits, and a client that has gone ends the find.
//   - Law 7, scoped: each route but none works without a principal; its scope is in
//     each filter and its view over each document. A foreign id and an unknown one
//     have the same answer.
package httpapi
