package query

import (
	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/bsontype"

	"prejoin/pkg/readmodel"
)

// place is where a page ended: the sort key and the id of its last row. A key
// of type 0 means that the sort is by _id alone.
type place struct {
	key, id bson.RawValue
}

func (p place) null() bool { return p.key.Type == bsontype.Null }

// segments are the clauses that together hold every row after a place, each of
// which is one span of the index. They are read one after the other: a single
// $or would be left to the planner, and the textbook form (key > k, or key = k
// and _id > i) drops null keys, which no comparison with a value matches.
// MongoDB orders nulls first when ascending and last when descending.
func segments(m *readmodel.Model, sort readmodel.SortKey, p place, bounded bool) []bson.D {
	key, beyond := m.Key(sort.Field), "$gt"
	if sort.Desc {
		beyond = "$lt"
	}
	after := bson.E{Key: "_id", Value: bson.D{{Key: beyond, Value: p.id}}}
	if key == "_id" {
		return []bson.D{{after}}
	}
	ties := bson.D{{Key: key, Value: p.key}, after}
	values := bson.D{{Key: key, Value: bson.D{{Key: beyond, Value: p.key}}}}
	switch {
	case p.null() && sort.Desc:
		return []bson.D{ties} // nulls are the last segment
	case p.null():
		return []bson.D{ties, {{Key: key, Value: bson.D{{Key: "$ne", Value: nil}}}}}
	case sort.Desc && !bounded:
		return []bson.D{ties, values, {{Key: key, Value: nil}}}
	default: // ascending has its nulls behind it, and a range has none
		return []bson.D{ties, values}
	}
}

// placeOf reads the place of a document. A sort key that is missing counts as
// null, as it does in MongoDB's order.
func placeOf(m *readmodel.Model, sort readmodel.SortKey, doc bson.Raw) (place, error) {
	id, err := doc.LookupErr("_id")
	if err != nil {
		return place{}, err
	}
	p := place{id: id}
	if key := m.Key(sort.Field); key != "_id" {
		p.key = bson.RawValue{Type: bsontype.Null}
		if v, err := doc.LookupErr(key); err == nil {
			p.key = v
		}
	}
	return p, nil
}
