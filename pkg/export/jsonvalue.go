package export

import (
	"strconv"

	"go.mongodb.org/mongo-driver/bson/bsontype"

	"prejoin/pkg/readmodel"
)

// jsonWriter appends values as JSON by the model's types.
type jsonWriter struct {
	layout *Layout
	walk   *walker
	parts  []*walker
	clock  clock
	losses tally
	odd    []byte // scratch for values of other types
	err    error  // a value of another type that is not valid BSON; ends the document
}

func newJSONWriter(l *Layout) jsonWriter {
	return jsonWriter{
		layout: l, walk: newWalker(&l.keys, len(l.fields)), parts: l.partWalkers(),
		clock: clock{loc: l.loc}, losses: tally{},
	}
}

// Reported lists what did not leave as the model's type.
func (j *jsonWriter) Reported() []Loss { return j.losses.list() }

// object appends the document as one JSON object.
func (j *jsonWriter) object(dst []byte, doc []byte) ([]byte, error) {
	if err := j.walk.walk(doc); err != nil {
		return dst, err
	}
	var err error
	j.err = nil
	dst = append(dst, '{')
	for i, slot := range j.layout.order {
		f := j.layout.fields[slot]
		dst = append(appendComma(dst, i), f.prefix...)
		if f.parts == nil {
			dst = j.scalar(dst, f, j.walk.values[slot])
		} else if dst, err = j.array(dst, f, slot); err != nil {
			return dst, err
		}
	}
	return append(dst, '}'), j.err
}

func (j *jsonWriter) array(dst []byte, f *field, slot int) ([]byte, error) {
	v := j.walk.values[slot]
	if v.kind != bsontype.Array {
		return j.other(dst, f, v), nil
	}
	dst = append(dst, '[')
	n := 0
	err := eachChild(v.data, func(child value) (err error) {
		dst = appendComma(dst, n)
		n++
		dst, err = j.child(dst, f, j.parts[slot], child)
		return err
	})
	return append(dst, ']'), err
}

func (j *jsonWriter) child(dst []byte, f *field, w *walker, child value) ([]byte, error) {
	if child.kind != bsontype.EmbeddedDocument {
		return j.other(dst, f, child), nil
	}
	if err := w.walk(child.data); err != nil {
		return dst, err
	}
	dst = append(dst, '{')
	for i, part := range f.order {
		p := f.parts[part]
		dst = append(appendComma(dst, i), p.prefix...)
		dst = j.scalar(dst, p, w.values[part])
	}
	return append(dst, '}'), nil
}

// scalar appends a value that is not an array.
func (j *jsonWriter) scalar(dst []byte, f *field, v value) []byte {
	switch {
	case v.kind == bsontype.Null:
		return append(dst, "null"...)
	case !fits(f.Type, v):
		return j.other(dst, f, v)
	}
	switch f.Type {
	case readmodel.Int64:
		return strconv.AppendInt(dst, v.int(), 10)
	case readmodel.Decimal:
		return j.decimal(dst, f, v)
	case readmodel.Bool:
		return strconv.AppendBool(dst, v.data[0] != 0)
	case readmodel.Date:
		return append(appendDate(append(dst, '"'), v.int()/dayMillis), '"')
	case readmodel.Timestamp:
		return append(j.clock.appendTimestamp(append(dst, '"'), v.int()), '"')
	}
	dst, broken := appendString(dst, j.losses.text(f, v))
	if broken {
		j.losses.add(f, LossUTF8)
	}
	return dst
}

func (j *jsonWriter) decimal(dst []byte, f *field, v value) []byte {
	start := len(dst)
	dst, finite := appendDecimal(dst, v.data)
	if finite {
		return dst
	}
	j.losses.add(f, LossFinite)
	dst, _ = appendString(dst[:start], j.plain(v))
	return dst
}

// other appends a value that is not of the model's type.
func (j *jsonWriter) other(dst []byte, f *field, v value) []byte {
	switch v.kind {
	case 0:
		j.losses.add(f, LossMissing)
		return append(dst, "null"...)
	case bsontype.Null:
		return append(dst, "null"...)
	}
	j.losses.add(f, LossType)
	dst, broken := appendString(dst, j.plain(v))
	if broken {
		j.losses.add(f, LossUTF8)
	}
	return dst
}

// plain is the text of a value; valid until the next call.
func (j *jsonWriter) plain(v value) []byte {
	var err error
	if j.odd, err = appendPlain(j.odd[:0], v); err != nil {
		j.err = err
	}
	return j.odd
}

// fits says whether a value is stored as the model's type is.
func fits(t readmodel.Type, v value) bool {
	switch t {
	case readmodel.Int64:
		return v.kind == bsontype.Int64
	case readmodel.Decimal:
		return v.kind == bsontype.Decimal128
	case readmodel.Text, readmodel.Enum:
		return v.kind == bsontype.String
	case readmodel.Bool:
		return v.kind == bsontype.Boolean
	case readmodel.Date:
		return v.kind == bsontype.DateTime && v.int()%dayMillis == 0
	case readmodel.Timestamp:
		return v.kind == bsontype.DateTime
	}
	return false
}

// text is what a text or enum field shows: the enum's label where labels leave.
func (t tally) text(f *field, v value) []byte {
	if f.labels == nil {
		return v.str()
	}
	if label, known := f.labels[string(v.str())]; known {
		return []byte(label)
	}
	t.add(f, LossLabel)
	return v.str()
}
