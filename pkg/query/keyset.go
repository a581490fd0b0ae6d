package query

import (
	"slices"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/bsontype"

	"prejoin/pkg/readmodel"
)

// place is where a page ended: the sort key and the id of its last row.
type place struct {
	key, id bson.RawValue
}

func (p place) null() bool { return p.key.Type == bsontype.Null }

// segments are the spans of the index that together hold every row after a
// place, to be read one after the other: a single $or would be left to the
// planner, and the textbook form (key > k, or key = k and _id > i) drops null
// keys, which no comparison with a value matches. MongoDB orders nulls first
// when ascending and last when descending.
func (r *Request) segments(p place) []Segment {
	key, beyond := r.Model.Key(r.sort.Field), "$gt"
	if r.sort.Desc {
		beyond = "$lt"
	}
	ties := r.tied(bson.D{{Key: key, Value: p.key}}, bson.D{{Key: "_id", Value: bson.D{{Key: beyond, Value: p.id}}}})
	values := r.span(bson.D{{Key: key, Value: bson.D{{Key: beyond, Value: p.key}}}})
	nulls := r.tied(bson.D{{Key: key, Value: nil}})
	switch {
	case r.fixed, p.null() && r.sort.Desc:
		return []Segment{ties}
	case p.null():
		return []Segment{ties, r.span(bson.D{{Key: key, Value: bson.D{{Key: "$ne", Value: nil}}}})}
	case r.sort.Desc && !r.bounded:
		return []Segment{ties, values, nulls}
	default: // ascending has its nulls behind it, and a range has none
		return []Segment{ties, values}
	}
}

// span is the request's filter with more clauses, in the request's order.
func (r *Request) span(more ...bson.D) Segment {
	clauses := slices.Clone(r.Filter[0].Value.(bson.A))
	for _, c := range more {
		clauses = append(clauses, c)
	}
	return Segment{Filter: bson.D{{Key: "$and", Value: clauses}}, Sort: r.Sort}
}

// tied is a span in which all sort keys are equal. It is sorted by _id alone:
// with the key in the sort MongoDB merges no index scans of several scopes but
// reads them whole and sorts (seen in the plans of 6.0).
func (r *Request) tied(more ...bson.D) Segment {
	s := r.span(more...)
	s.Sort = bson.D{{Key: "_id", Value: direction(r.sort.Desc)}}
	return s
}

// placeOf reads the place of a document. A sort key that is missing counts as
// null, as it does in MongoDB's order.
func placeOf(m *readmodel.Model, sort readmodel.SortKey, doc bson.Raw) (place, error) {
	id, err := doc.LookupErr("_id")
	if err != nil {
		return place{}, err
	}
	p := place{id: id, key: bson.RawValue{Type: bsontype.Null}}
	if v, err := doc.LookupErr(m.Key(sort.Field)); err == nil {
		p.key = v
	}
	return p, nil
}
