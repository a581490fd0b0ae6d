// Package export turns raw BSON documents into the bytes of a download: NDJSON,
// JSON and CSV here, Excel in export/xlsx. In flow documents in batches (Rows),
// out flow bytes in few large writes (Stream), with a count, a digest and the
// time that each section took.
//
// A Layout says which fields leave, in which order and under which names. It is
// compiled once an export; an encoder then walks each document's bytes once and
// appends to one buffer: no Go values are made for a row. The bookkeeping
// subdocument _p never leaves.
//
// The package keeps law 5 (exact): int64 and Decimal128 leave with every digit
// that is stored, trailing zeros included; a value that is not of the model's type,
// or that the format cannot hold, is written as text and counted in
// Result.Reported, never dropped, rounded or cut. It keeps its part of law 4
// (complete or visibly broken): Stream ends a file only after the last row, and
// its error says whether bytes had left. It keeps law 6 (bounded): memory is two
// batches of at most Options.Rows rows and one buffer, whatever the result's size.
//
// # NDJSON and JSON
//
// One object a document, keys are the model's field names in the layout's order.
// int64 and decimal are JSON numbers with all digits (read them as text, not as
// doubles); NaN and the infinities are strings, and reported. A date is
// "2026-11-30", a timestamp "2026-11-30T09:00:00.000+09:00" in the layout's zone;
// where the zone's offset of that time has seconds (before standard time), UTC
// is written instead, since ISO 8601 has no such offset. Years outside 0 to 9999
// are written with a sign and at least six digits. Children are arrays of objects in
// both line modes. A missing field is null, and reported. Bytes that are not UTF-8
// become U+FFFD, and are reported.
//
// # CSV
//
// RFC 4180: commas, CRLF, quotes where needed; the first row is the header. Null
// is an empty field, an empty text is "" (as PostgreSQL's COPY does); a file of
// one column writes both as "", because readers skip blank lines. A byte order mark
// comes first unless it is switched off: without it Excel shows Korean as noise.
//
// Text that starts with = + - @ TAB or CR may be run as a formula by a spreadsheet.
// The default is exact: the text leaves as stored, because a program that reads
// CSV must get what SQL has. CSVConfig.Guard puts an apostrophe before such text,
// and before text that already starts with one, so that taking one apostrophe off is
// always the way back; each is reported. Numbers are never touched: a negative
// amount is not a formula.
//
// # Digest
//
// SHA-256 over the documents, each as one line of canonical extended JSON (numbers
// as {"$numberLong":"1"}, {"$numberDecimal":"1.00"}, dates as
// {"$date":{"$numberLong":"0"}}) and LF: the fields that leave, under their model
// names, in model order, a missing one as null, children with the fields that
// leave. It is the same for all formats, zones, languages and column orders.
package export
