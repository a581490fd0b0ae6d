package readmodel

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"strconv"
)

// shape hashes what decides the content of a document: the exact text of the
// SQL that reads it, the id, and each field's name, type and scale, in order.
// Labels, formats, routes, access patterns and reports may change freely. Each
// part is preceded by its length, so that no two models give the same input.
func (m *Model) shape() string {
	h := shapeHash{sha256.New()}
	h.add("prejoin shape 1", m.ID, m.Root, m.IDs)
	h.fields(m.Fields)
	for _, c := range m.Children {
		h.add(c.Field, c.Parent, c.Query)
		h.fields(c.Fields)
	}
	return hex.EncodeToString(h.Sum(nil))
}

type shapeHash struct{ hash.Hash }

func (h shapeHash) add(parts ...string) {
	for _, p := range parts {
		h.Write([]byte(strconv.Itoa(len(p)) + ":" + p))
	}
}

func (h shapeHash) fields(fields []Field) {
	h.add(strconv.Itoa(len(fields)))
	for _, f := range fields {
		h.add(f.Name, string(f.Type), strconv.Itoa(f.Scale))
	}
}
