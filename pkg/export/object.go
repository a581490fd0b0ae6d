package export

import "go.mongodb.org/mongo-driver/bson"

// Object appends single documents as JSON: for pages and single reads, which show
// a document exactly as an NDJSON line does. Not for use by two goroutines.
type Object struct{ jsonWriter }

// NewObject makes an Object for the layout.
func NewObject(l *Layout) *Object { return &Object{newJSONWriter(l)} }

// Append appends the document as one JSON object, without a line end; the error
// is ErrDocument.
func (o *Object) Append(dst []byte, doc bson.Raw) ([]byte, error) { return o.object(dst, doc) }
