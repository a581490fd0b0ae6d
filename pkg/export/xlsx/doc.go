// Package xlsx writes Excel workbooks from raw BSON documents, as an
// export.Encoder. In flow documents, out flow the bytes of a zip, row by row:
// memory does not grow with the rows (law 6).
//
// What surrounds the rows (styles, theme, workbook, relations, content types, sheet
// views) is made by tealeg/xlsx once: a specimen workbook of a header row and
// a row with each column's style. Its parts are taken, its rows are cut
// out, and the rows of the export are written in their place.
//
// What a cell holds (law 5, exact):
//   - int64 and decimals of up to 15 significant digits are numbers with the field's
//     format. What has more (or is -0, or lies outside a double's range) is text in a style of its own,
//     and reported (export.LossDigits): Excel would round it.
//   - Dates and timestamps are serial numbers with a date format, timestamps
//     in the layout's zone. Days before 1900-03-01 (Excel counts a 29 February 1900 that was not)
//     or after 9999 are text, and reported.
//   - Text is inline text, never a formula, whatever it starts with. Characters that XML cannot
//     hold are written _xHHHH_ as Excel does, and text that looks like that is escaped.
//   - Text of more than 32,767 UTF-16 units does not fit into a cell. It is cut
//     and ends with a marker that says how long it was; it is reported (export.LossCut). Aborting
//     a report of 100,000 rows for one long remark would help nobody; NDJSON and CSV have it whole.
//
// The header row is frozen and filterable over the rows that are really there. After
// 1,048,576 rows, or before 4 GiB of XML, the export goes on in another sheet with the
// same header. A cut file does not open: the zip's directory comes last (law 4).
package xlsx
