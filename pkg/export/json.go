package export

import (
	"fmt"

	"go.mongodb.org/mongo-driver/bson"
)

// NDJSON writes one JSON object a line.
type NDJSON struct {
	buffer
	jsonWriter
	endLine bool
}

// NewNDJSON makes an NDJSON encoder. With endLine the last line is
// {"end":true,"rows":N,"digest":"…"}: a file without it was cut.
func NewNDJSON(l *Layout, endLine bool) *NDJSON {
	return &NDJSON{jsonWriter: newJSONWriter(l), endLine: endLine}
}

// Begin writes nothing.
func (n *NDJSON) Begin() error { return nil }

// Row appends one line.
func (n *NDJSON) Row(doc bson.Raw) (err error) {
	n.buf, err = n.object(n.buf, doc)
	n.buf = append(n.buf, '\n')
	return err
}

// End appends the end line where it was asked for.
func (n *NDJSON) End(s Summary) error {
	if n.endLine {
		n.buf = fmt.Appendf(n.buf, "{\"end\":true,\"rows\":%d,\"digest\":%q}\n", s.Rows, s.Digest)
	}
	return nil
}

// ContentType is NDJSON's.
func (n *NDJSON) ContentType() string { return "application/x-ndjson; charset=utf-8" }

// Extension is "ndjson".
func (n *NDJSON) Extension() string { return "ndjson" }

// JSON writes one array, an object a line; only a complete file closes it.
type JSON struct {
	buffer
	jsonWriter
	rows int64
}

// NewJSON makes a JSON encoder.
func NewJSON(l *Layout) *JSON { return &JSON{jsonWriter: newJSONWriter(l)} }

// Begin opens the array.
func (j *JSON) Begin() error {
	j.buf = append(j.buf, '[', '\n')
	return nil
}

// Row appends one object.
func (j *JSON) Row(doc bson.Raw) (err error) {
	if j.rows > 0 {
		j.buf = append(j.buf, ',', '\n')
	}
	j.rows++
	j.buf, err = j.object(j.buf, doc)
	return err
}

// End closes the array.
func (j *JSON) End(Summary) error {
	if j.rows > 0 {
		j.buf = append(j.buf, '\n')
	}
	j.buf = append(j.buf, ']', '\n')
	return nil
}

// ContentType is JSON's.
func (j *JSON) ContentType() string { return "application/json" }

// Extension is "json".
func (j *JSON) Extension() string { return "json" }
