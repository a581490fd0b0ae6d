package access

import (
	"context"
	"fmt"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/bsontype"
	"go.mongodb.org/mongo-driver/x/bsonx/bsoncore"

	"prejoin/pkg/query"
	"prejoin/pkg/readmodel"
)

// View shows documents of one model as one principal may see them: masked texts
// instead of personal ones, hidden fields not at all.
type View struct {
	rules rules // nil: all is shown as it is
}

// rules are what is not shown in full, by BSON key.
type rules map[string]rule

type rule struct {
	hidden bool
	mask   string
	child  rules // an array: the rules of its documents
}

// NewView decides once what Show does with each field.
func NewView(m *readmodel.Model, r query.Reader) View {
	return View{rules: rulesOf(m.Fields, r, m.Key)}
}

func rulesOf(fields []readmodel.Field, r query.Reader, key func(string) string) rules {
	var all rules
	for i := range fields {
		f := &fields[i]
		if one, limited := ruleOf(f, r); limited {
			if all == nil {
				all = rules{}
			}
			all[key(f.Name)] = one
		}
	}
	return all
}

func ruleOf(f *readmodel.Field, r query.Reader) (rule, bool) {
	switch r.Sees(f) {
	case query.Hidden:
		return rule{hidden: true}, true
	case query.Masked:
		mask := "all"
		if f.PII != nil {
			mask = f.PII.Mask
		}
		return rule{mask: mask}, true
	}
	if f.Child != nil {
		child := rulesOf(f.Child.Fields, r, func(name string) string { return name })
		return rule{child: child}, child != nil
	}
	return rule{}, false
}

// Open reports that nothing is masked or hidden.
func (v View) Open() bool { return v.rules == nil }

// Show appends the document as the principal may see it. An error means that
// the document is not valid BSON; it must then not be shown at all.
func (v View) Show(dst []byte, doc bson.Raw) ([]byte, error) {
	if v.Open() {
		return append(dst, doc...), nil
	}
	return v.rules.apply(dst, bsoncore.Document(doc))
}

func (r rules) apply(dst []byte, doc bsoncore.Document) ([]byte, error) {
	elements, err := doc.Elements()
	if err != nil {
		return dst, fmt.Errorf("masking a document: %w", err)
	}
	start, dst := bsoncore.AppendDocumentStart(dst)
	for _, e := range elements {
		one, limited := r[e.Key()]
		switch {
		case !limited:
			dst = append(dst, e...)
		case one.hidden:
		default:
			if dst, err = one.append(dst, e); err != nil {
				return dst, err
			}
		}
	}
	return bsoncore.AppendDocumentEnd(dst, start)
}

func (r rule) append(dst []byte, e bsoncore.Element) ([]byte, error) {
	v, key := e.Value(), e.Key()
	switch {
	case v.Type == bsontype.Null:
		return append(dst, e...), nil
	case r.child != nil && v.Type == bsontype.Array:
		return r.array(dst, key, v)
	case r.child == nil:
		if text, ok := v.StringValueOK(); ok {
			return bsoncore.AppendStringElement(dst, key, masked(r.mask, text)), nil
		}
	}
	return bsoncore.AppendNullElement(dst, key), nil // what no mask fits is not shown
}

func (r rule) array(dst []byte, key string, v bsoncore.Value) ([]byte, error) {
	elements, err := bsoncore.Document(v.Data).Elements()
	if err != nil {
		return dst, fmt.Errorf("masking an array: %w", err)
	}
	start, dst := bsoncore.AppendArrayElementStart(dst, key)
	for _, e := range elements {
		child, ok := e.Value().DocumentOK()
		if !ok {
			dst = bsoncore.AppendNullElement(dst, e.Key())
			continue
		}
		dst = bsoncore.AppendHeader(dst, bsontype.EmbeddedDocument, e.Key())
		if dst, err = r.child.apply(dst, child); err != nil {
			return dst, err
		}
	}
	return bsoncore.AppendArrayEnd(dst, start)
}

// Rows is where documents come from, a batch at a time; io.EOF ends them.
type Rows interface {
	Next(ctx context.Context) ([]bson.Raw, error)
}

// Rows shows what rows gives. Its batches are good until the next call of Next.
func (v View) Rows(rows Rows) Rows {
	if v.Open() {
		return rows
	}
	return &shown{view: v, rows: rows}
}

type shown struct {
	view View
	rows Rows
	buf  []byte
	ends []int
	docs []bson.Raw
}

func (s *shown) Next(ctx context.Context) ([]bson.Raw, error) {
	batch, err := s.rows.Next(ctx)
	if err != nil {
		return nil, err
	}
	s.buf, s.ends, s.docs = s.buf[:0], s.ends[:0], s.docs[:0]
	for _, doc := range batch {
		if s.buf, err = s.view.Show(s.buf, doc); err != nil {
			return nil, err
		}
		s.ends = append(s.ends, len(s.buf))
	}
	start := 0
	for _, end := range s.ends {
		s.docs = append(s.docs, s.buf[start:end:end])
		start = end
	}
	return s.docs, nil
}
