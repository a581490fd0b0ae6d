package document

import (
	"fmt"
	"strconv"
	"time"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/bsontype"
	"go.mongodb.org/mongo-driver/x/bsonx/bsoncore"

	"prejoin/pkg/readmodel"
)

// Stamp is a document's `_p`: the version under which it was read, where and when.
type Stamp struct {
	Epoch, Rank int64
	Shard       string
	At          time.Time
}

// Shape is what building needs of a model, made once and shared.
type Shape struct {
	model *readmodel.Model
	parts []part // the children in the model's order, then the root
}

// part is one query of the model and the fields that its columns fill.
type part struct {
	name   string
	parent string // children: the column that names the document
	fields []*readmodel.Field
	child  int // root: -1
}

// NewShape prepares a model. Its queries are answered in the order of Queries.
func NewShape(m *readmodel.Model) *Shape {
	s := &Shape{model: m}
	for i := range m.Children {
		c := &m.Children[i]
		fields := []*readmodel.Field{{Name: c.Parent, Type: readmodel.Text}}
		s.parts = append(s.parts, part{name: c.Field, parent: c.Parent, fields: append(fields, pointers(c.Fields)...), child: i})
	}
	s.parts = append(s.parts, part{name: "root", fields: scalars(m), child: -1})
	return s
}

// Model is the model that the shape was made of.
func (s *Shape) Model() *readmodel.Model { return s.model }

// Queries are the model's SQL texts, children before the root: their rows must
// have been seen when a root's row is built.
func (s *Shape) Queries() []string {
	queries := make([]string, 0, len(s.parts))
	for _, c := range s.model.Children {
		queries = append(queries, c.Query)
	}
	return append(queries, s.model.Root)
}

func pointers(fields []readmodel.Field) []*readmodel.Field {
	list := make([]*readmodel.Field, len(fields))
	for i := range fields {
		list[i] = &fields[i]
	}
	return list
}

func scalars(m *readmodel.Model) []*readmodel.Field {
	var list []*readmodel.Field
	for i := range m.Fields {
		if m.Fields[i].Type != readmodel.Array {
			list = append(list, &m.Fields[i])
		}
	}
	return list
}

// Batch builds the documents of one read. It is not for concurrent use.
type Batch struct {
	shape    *Shape
	stamp    Stamp
	columns  [][]int // by part: each field's column
	children []map[string]*array
	ids      map[string]bson.Raw
}

// array is a child's rows of one document, appended as they come.
type array struct {
	bytes []byte
	count int
}

// NewBatch starts a batch; Begin gives it its stamp.
func (s *Shape) NewBatch() *Batch {
	b := &Batch{shape: s, columns: make([][]int, len(s.parts)), children: make([]map[string]*array, len(s.parts)-1), ids: map[string]bson.Raw{}}
	for i := range b.children {
		b.children[i] = map[string]*array{}
	}
	return b
}

// Begin sets the stamp that all documents of the batch carry.
func (b *Batch) Begin(stamp Stamp) { b.stamp = stamp }

// Columns checks a query's columns against the model.
func (b *Batch) Columns(query int, columns []Column) error {
	p := b.shape.parts[query]
	index, err := match(p.name, p.fields, columns)
	b.columns[query] = index
	return err
}

// Row takes one row of a query; values are in text form, nil is NULL.
func (b *Batch) Row(query int, values [][]byte) error {
	if b.shape.parts[query].child < 0 {
		return b.root(query, values)
	}
	return b.childRow(query, values)
}

func (b *Batch) childRow(query int, values [][]byte) error {
	p, columns := b.shape.parts[query], b.columns[query]
	parent := values[columns[0]]
	if parent == nil {
		return &ColumnError{p.name, fmt.Sprintf("returns a row whose %q is NULL: it must name the document", p.parent)}
	}
	a := b.children[query][string(parent)]
	if a == nil {
		a = &array{}
		b.children[query][string(parent)] = a
	}
	return a.add(p.fields[1:], columns[1:], values)
}

func (a *array) add(fields []*readmodel.Field, columns []int, values [][]byte) (err error) {
	a.bytes = bsoncore.AppendHeader(a.bytes, bsontype.EmbeddedDocument, strconv.Itoa(a.count))
	start, dst := bsoncore.AppendDocumentStart(a.bytes)
	for i, f := range fields {
		if dst, err = appendElement(dst, f.Name, f, values[columns[i]]); err != nil {
			return err
		}
	}
	a.bytes, err = bsoncore.AppendDocumentEnd(dst, start)
	a.count++
	return err
}

func (b *Batch) root(query int, values [][]byte) error {
	id, raw, err := b.build(b.columns[query], values)
	if err != nil {
		return fmt.Errorf("building document %s: %w", id, err)
	}
	if _, twice := b.ids[id]; twice {
		return &ColumnError{"root", fmt.Sprintf("returns more than one row for id %s: it must return one row a document", id)}
	}
	b.ids[id] = raw
	return nil
}

func (b *Batch) build(columns []int, values [][]byte) (id string, raw bson.Raw, err error) {
	start, dst := bsoncore.AppendDocumentStart(make([]byte, 0, 1024))
	m, scalar := b.shape.model, 0
	for i := range m.Fields {
		f := &m.Fields[i]
		if f.Type == readmodel.Array {
			dst = b.appendArray(dst, f, id)
			continue
		}
		value := values[columns[scalar]]
		scalar++
		if f.Name == m.ID {
			id = string(value)
		}
		if dst, err = appendElement(dst, m.Key(f.Name), f, value); err != nil {
			return id, nil, err
		}
	}
	raw, err = bsoncore.AppendDocumentEnd(b.appendStamp(dst), start)
	return id, raw, err
}

func (b *Batch) appendArray(dst []byte, f *readmodel.Field, id string) []byte {
	start, dst := bsoncore.AppendArrayElementStart(dst, f.Name)
	for i := range b.shape.model.Children {
		if b.shape.model.Children[i].Field == f.Name {
			if a := b.children[i][id]; a != nil {
				dst = append(dst, a.bytes...)
			}
		}
	}
	dst, _ = bsoncore.AppendArrayEnd(dst, start) // fails over 2 GiB only, far beyond a document's 16 MiB
	return dst
}

func (b *Batch) appendStamp(dst []byte) []byte {
	outer, dst := bsoncore.AppendDocumentElementStart(dst, "_p")
	version, dst := bsoncore.AppendDocumentElementStart(dst, "v")
	dst = bsoncore.AppendInt64Element(dst, "e", b.stamp.Epoch) // e before r: documents compare in field order
	dst = bsoncore.AppendInt64Element(dst, "r", b.stamp.Rank)
	dst, _ = bsoncore.AppendDocumentEnd(dst, version)
	dst = bsoncore.AppendStringElement(dst, "s", b.stamp.Shard)
	dst = bsoncore.AppendDateTimeElement(dst, "t", b.stamp.At.UnixMilli())
	dst, _ = bsoncore.AppendDocumentEnd(dst, outer)
	return dst
}

// Document returns the document of an id, or nil: its row is gone. An id is the
// value's text form in PostgreSQL.
func (b *Batch) Document(id string) bson.Raw { return b.ids[id] }

// Len is the number of documents built.
func (b *Batch) Len() int { return len(b.ids) }

// ID gives an id's BSON value by the model's type of it.
func (s *Shape) ID(id string) (bson.RawValue, error) {
	f := s.model.Field(s.model.ID)
	dst, err := appendElement(nil, "", f, []byte(id))
	if err != nil {
		return bson.RawValue{}, err
	}
	return bson.RawValue{Type: bsontype.Type(dst[0]), Value: dst[2:]}, nil // type byte, empty key's NUL, value
}
