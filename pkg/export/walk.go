package export

import (
	"bytes"
	"encoding/binary"
	"errors"

	"go.mongodb.org/mongo-driver/bson/bsontype"

	"prejoin/pkg/readmodel"
)

// ErrDocument is returned for bytes that are not a BSON document. It stops the
// export: what follows such a document cannot be trusted either.
var ErrDocument = errors.New("the document is not valid BSON: look at it with `projector verify` and repair it")

// value is a document's value as it lies in the document's bytes. A zero kind
// (no BSON type has it) says that the document lacks the key.
type value struct {
	kind bsontype.Type
	data []byte
}

// keyTable maps a document's keys to slots. It is shared and never changed.
type keyTable struct {
	names []string       // BSON keys that are expected
	slots []int          // the slot of each, or -1: it does not leave
	index map[string]int // name → its place in names
}

func (t *keyTable) add(name string, slot int) {
	if t.index == nil {
		t.index = map[string]int{}
	}
	t.index[name] = len(t.names)
	t.names = append(t.names, name)
	t.slots = append(t.slots, slot)
}

func rootKeys(m *readmodel.Model, fields []*field) keyTable {
	var t keyTable
	slot := 0
	for i := range m.Fields {
		mf := &m.Fields[i]
		if slot < len(fields) && fields[slot].Field == mf {
			t.add(m.Key(mf.Name), slot)
			slot++
			continue
		}
		t.add(m.Key(mf.Name), -1)
	}
	t.add("_p", -1)
	return t
}

func childKeys(f *field) keyTable {
	var t keyTable
	for i := range f.Child.Fields {
		mf := &f.Child.Fields[i]
		t.add(mf.Name, f.part(mf))
	}
	return t
}

// walker finds the values of one document after the other. Documents of one
// query are alike, so it tries first the key that stood at the same place in the
// document before: one comparison a field, whatever the projection.
type walker struct {
	*keyTable
	guess  []int   // the place in names of the key at each position of the last document
	values []value // by slot; valid until the next walk, while the document lives
}

func newWalker(t *keyTable, slots int) *walker {
	w := &walker{keyTable: t, values: make([]value, slots)}
	for i := range t.names {
		w.guess = append(w.guess, i)
	}
	return w
}

func (w *walker) walk(doc []byte) error {
	clear(w.values)
	rest, ok := body(doc)
	if !ok {
		return ErrDocument
	}
	for p := 0; len(rest) > 0; p++ {
		name, n := w.key(p, rest[1:])
		if n == 0 {
			return ErrDocument
		}
		v := value{bsontype.Type(rest[0]), rest[1+n:]}
		size, ok := valueSize(v.kind, v.data)
		if !ok {
			return ErrDocument
		}
		v.data, rest = v.data[:size], v.data[size:]
		if name >= 0 && w.slots[name] >= 0 {
			w.values[w.slots[name]] = v
		}
	}
	return nil
}

// key returns the place in names of the key that s starts with (-1: unknown) and
// the bytes it takes with its NUL (0: there is none).
func (w *walker) key(p int, s []byte) (int, int) {
	if p < len(w.guess) {
		if g := w.guess[p]; g >= 0 {
			name := w.names[g]
			if n := len(name); len(s) > n && s[n] == 0 && string(s[:n]) == name {
				return g, n + 1
			}
		}
	} else {
		w.guess = append(w.guess, -1)
	}
	n := bytes.IndexByte(s, 0)
	if n < 0 {
		return 0, 0
	}
	name, known := w.index[string(s[:n])]
	if !known {
		name = -1
	}
	w.guess[p] = name
	return name, n + 1
}

// body is what lies between a document's length and its last NUL.
func body(doc []byte) ([]byte, bool) {
	if len(doc) < 5 || int(int32(binary.LittleEndian.Uint32(doc))) != len(doc) || doc[len(doc)-1] != 0 {
		return nil, false
	}
	return doc[4 : len(doc)-1], true
}
