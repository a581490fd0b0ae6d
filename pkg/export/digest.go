package export

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"

	"go.mongodb.org/mongo-driver/bson/bsontype"
)

// Digest hashes the documents of one export (see the package's text for what it
// covers). It is not for use by two goroutines.
type Digest struct {
	layout *Layout
	walk   *walker
	parts  []*walker // by slot: the walker of an array's children, or nil
	hash   hash.Hash
	buf    []byte
}

// NewDigest starts a digest over the fields that leave by the layout.
func NewDigest(l *Layout) *Digest {
	return &Digest{layout: l, walk: newWalker(&l.keys, len(l.fields)), parts: l.partWalkers(), hash: sha256.New()}
}

// Add hashes one document; the error is ErrDocument.
func (d *Digest) Add(doc []byte) error {
	if err := d.walk.walk(doc); err != nil {
		return err
	}
	var err error
	d.buf = append(d.buf, '{')
	for i, f := range d.layout.fields {
		d.buf = append(appendComma(d.buf, i), f.prefix...)
		if d.buf, err = d.appendValue(d.buf, i, f); err != nil {
			return err
		}
	}
	d.buf = append(d.buf, '}', '\n')
	if len(d.buf) >= 1<<15 {
		d.drain()
	}
	return nil
}

// Sum is the hash of all that was added, in hexadecimal.
func (d *Digest) Sum() string {
	d.drain()
	return hex.EncodeToString(d.hash.Sum(nil))
}

// drain hashes in long pieces: hash.Write costs more a call than a byte.
func (d *Digest) drain() {
	d.hash.Write(d.buf)
	d.buf = d.buf[:0]
}

func (d *Digest) appendValue(dst []byte, slot int, f *field) ([]byte, error) {
	v := d.walk.values[slot]
	if d.parts[slot] == nil || v.kind != bsontype.Array {
		return appendCanonical(dst, v)
	}
	dst = append(dst, '[')
	n := 0
	err := eachChild(v.data, func(child value) (err error) {
		dst = appendComma(dst, n)
		n++
		dst, err = appendCanonicalChild(dst, d.parts[slot], f, child)
		return err
	})
	return append(dst, ']'), err
}

func appendCanonicalChild(dst []byte, w *walker, f *field, child value) ([]byte, error) {
	if child.kind != bsontype.EmbeddedDocument {
		return appendCanonical(dst, child)
	}
	if err := w.walk(child.data); err != nil {
		return dst, err
	}
	var err error
	dst = append(dst, '{')
	for i, p := range f.parts {
		dst = append(appendComma(dst, i), p.prefix...)
		if dst, err = appendCanonical(dst, w.values[i]); err != nil {
			return dst, err
		}
	}
	return append(dst, '}'), nil
}

func appendComma(dst []byte, i int) []byte {
	if i == 0 {
		return dst
	}
	return append(dst, ',')
}
