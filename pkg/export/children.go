package export

import (
	"bytes"

	"go.mongodb.org/mongo-driver/bson/bsontype"
)

// eachChild calls do with each element of a BSON array.
func eachChild(array []byte, do func(value) error) error {
	rest, ok := body(array)
	for ok && len(rest) > 0 {
		name := bytes.IndexByte(rest[1:], 0)
		if name < 0 {
			return ErrDocument
		}
		v := value{bsontype.Type(rest[0]), rest[name+2:]}
		var size int
		if size, ok = valueSize(v.kind, v.data); !ok {
			return ErrDocument
		}
		v.data, rest = v.data[:size], v.data[size:]
		if err := do(v); err != nil {
			return err
		}
	}
	if !ok {
		return ErrDocument
	}
	return nil
}

// partWalkers makes a walker for the children of each array that leaves.
func (l *Layout) partWalkers() []*walker {
	ws := make([]*walker, len(l.fields))
	for i, f := range l.fields {
		if f.parts != nil {
			ws[i] = newWalker(&f.keys, len(f.parts))
		}
	}
	return ws
}
