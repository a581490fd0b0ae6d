package export

import "go.mongodb.org/mongo-driver/bson/bsontype"

// eachLine calls line once a child of the array that makes the rows, with w's
// values set to that child; once with nulls where there is no child.
func (l *Layout) eachLine(doc, w *walker, losses tally, line func() error) error {
	f, v := l.fields[l.spread], doc.values[l.spread]
	if v.kind != bsontype.Array {
		return l.noLine(f, v, w, losses, line)
	}
	n := 0
	err := eachChild(v.data, func(child value) error {
		n++
		if child.kind != bsontype.EmbeddedDocument {
			return l.oddLine(f, child, w, losses, line)
		}
		if err := w.walk(child.data); err != nil {
			return err
		}
		return line()
	})
	if err != nil || n > 0 {
		return err
	}
	return l.noLine(f, value{kind: bsontype.Null}, w, losses, line)
}

// noLine writes the document's own fields where its array is absent or empty; an
// array field of another type keeps its text in the first child column.
func (l *Layout) noLine(f *field, v value, w *walker, losses tally, line func() error) error {
	switch v.kind {
	case 0:
		losses.add(f, LossMissing)
	case bsontype.Null:
	default:
		return l.oddLine(f, v, w, losses, line)
	}
	w.fill(value{kind: bsontype.Null})
	return line()
}

// oddLine writes a child that is no document: as it does not fit the first child
// column's type or is text, it is written as text there. Nothing is dropped.
func (l *Layout) oddLine(f *field, v value, w *walker, losses tally, line func() error) error {
	losses.add(f, LossType)
	w.fill(value{kind: bsontype.Null})
	w.values[0] = v
	return line()
}

func (w *walker) fill(v value) {
	for i := range w.values {
		w.values[i] = v
	}
}

// value is the column's value in the document or child that was walked last.
func (c *tableColumn) value(doc *walker, parts []*walker) value {
	if c.part < 0 {
		return doc.values[c.slot]
	}
	return parts[c.slot].values[c.part]
}
