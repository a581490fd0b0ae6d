package export

import (
	"io"

	"go.mongodb.org/mongo-driver/bson"
)

// Encoder turns documents into one format. It appends to a buffer of its own;
// Flush hands all of it to w in one write. Begin comes first, then rows, then End;
// after an error the file cannot be completed. Not for use by two goroutines.
type Encoder interface {
	Begin() error
	Row(doc bson.Raw) error // doc is not kept; the error is ErrDocument or the format's limit
	End(Summary) error
	Buffered() int // bytes that wait for Flush
	Flush(w io.Writer) error
	Reported() []Loss // values that did not leave as the model's type, so far
	ContentType() string
	Extension() string // without a point: "csv"
}

// Summary is what a file can say at its end.
type Summary struct {
	Rows   int64  // documents, not lines of a table
	Digest string // hexadecimal; "" where none was asked for
}

// buffer is the part of an Encoder that all text formats share.
type buffer struct{ buf []byte }

// Buffered is the number of bytes that wait for Flush.
func (b *buffer) Buffered() int { return len(b.buf) }

// Flush writes what is buffered in one call and empties the buffer.
func (b *buffer) Flush(w io.Writer) error {
	_, err := w.Write(b.buf)
	b.buf = b.buf[:0]
	return err
}
