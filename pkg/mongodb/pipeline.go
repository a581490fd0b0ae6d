package mongodb

import (
	"fmt"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/bsontype"
	"go.mongodb.org/mongo-driver/bson/primitive"
	"go.mongodb.org/mongo-driver/x/bsonx/bsoncore"
)

// condition holds what is the same in all the updates of a bulk, as BSON. All
// that comes from data stands under $literal, so that no text can be taken for
// an operator or a path.
type condition struct {
	fresh   []byte // $$NOW < deadline and (_p missing or (_p.s = s and _p.v < v))
	missing []byte // _p missing
	gone    []byte // the _p of a tombstone
	late    []byte // the _p of a late stub: version {0, 0}
}

func newCondition(b Bulk) (c condition, err error) {
	deadline := primitive.NewDateTimeFromTime(b.Clock.Deadline())
	missing := bson.D{op("$eq", bson.A{bson.D{op("$type", "$_p")}, "missing"})}
	older := bson.D{op("$and", bson.A{
		bson.D{op("$eq", bson.A{"$_p.s", literal(b.Shard)})},
		bson.D{op("$lt", bson.A{"$_p.v", literal(versionDoc(b.Version))})},
	})}
	fresh := bson.D{op("$and", bson.A{
		bson.D{op("$lt", bson.A{"$$NOW", literal(deadline)})},
		bson.D{op("$or", bson.A{missing, older})},
	})}
	for _, part := range []struct {
		to  *[]byte
		doc bson.D
	}{{&c.fresh, fresh}, {&c.missing, missing}, {&c.gone, tombstone(b, b.Version)}, {&c.late, tombstone(b, Version{})}} {
		if *part.to, err = bson.Marshal(part.doc); err != nil {
			return condition{}, fmt.Errorf("encoding the write condition: %w", err)
		}
	}
	return c, nil
}

func op(name string, value any) bson.E { return bson.E{Key: name, Value: value} }
func literal(value any) bson.D         { return bson.D{op("$literal", value)} }

// versionDoc is _p.v. Documents compare field by field in order: e before r.
func versionDoc(v Version) bson.D { return bson.D{op("e", v.Epoch), op("r", v.Rank)} }

// tombstone is the _p of one. $$NOW must not stand under $literal: it would be
// a string, which the TTL index never sees.
func tombstone(b Bulk, v Version) bson.D {
	p := bson.D{op("s", literal(b.Shard)), op("v", literal(versionDoc(v)))}
	if !b.At.IsZero() && v != (Version{}) {
		p = append(p, op("t", literal(primitive.NewDateTimeFromTime(b.At))))
	}
	return append(p, op("del", "$$NOW"))
}

// appendPipeline appends the update of one write:
//
//	[{$replaceWith: {$switch: {branches: [
//	    {case: fresh, then: {$literal: doc} or tombstone},
//	    {case: missing, then: late stub}], default: "$$ROOT"}}}]
//
// The document is copied into it once, as it is.
func (c condition) appendPipeline(dst []byte, w Write) []byte {
	pipeline, dst := bsoncore.AppendArrayStart(dst)
	stage, dst := bsoncore.AppendDocumentElementStart(dst, "0")
	replace, dst := bsoncore.AppendDocumentElementStart(dst, "$replaceWith")
	choice, dst := bsoncore.AppendDocumentElementStart(dst, "$switch")
	branches, dst := bsoncore.AppendArrayElementStart(dst, "branches")
	dst = c.appendFresh(dst, w)
	dst = c.appendLate(dst, w)
	dst = end(dst, branches)
	dst = bsoncore.AppendStringElement(dst, "default", "$$ROOT")
	dst = end(dst, choice)
	dst = end(dst, replace)
	dst = end(dst, stage)
	return end(dst, pipeline)
}

func (c condition) appendFresh(dst []byte, w Write) []byte {
	branch, dst := bsoncore.AppendDocumentElementStart(dst, "0")
	dst = bsoncore.AppendDocumentElement(dst, "case", c.fresh)
	if w.Doc == nil {
		dst = appendTombstone(dst, w.ID, c.gone)
		return end(dst, branch)
	}
	then, dst := bsoncore.AppendDocumentElementStart(dst, "then")
	dst = bsoncore.AppendDocumentElement(dst, "$literal", bsoncore.Document(w.Doc))
	dst = end(dst, then)
	return end(dst, branch)
}

func (c condition) appendLate(dst []byte, w Write) []byte {
	branch, dst := bsoncore.AppendDocumentElementStart(dst, "1")
	dst = bsoncore.AppendDocumentElement(dst, "case", c.missing)
	dst = appendTombstone(dst, w.ID, c.late)
	return end(dst, branch)
}

func appendTombstone(dst []byte, id bson.RawValue, p []byte) []byte {
	then, dst := bsoncore.AppendDocumentElementStart(dst, "then")
	inner, dst := bsoncore.AppendDocumentElementStart(dst, "_id")
	dst = bsoncore.AppendValueElement(dst, "$literal", bsoncore.Value{Type: id.Type, Data: id.Value})
	dst = end(dst, inner)
	dst = bsoncore.AppendDocumentElement(dst, "_p", p)
	return end(dst, then)
}

// end closes a document or array. The driver's own form can only fail on an
// index that it did not give out.
func end(dst []byte, start int32) []byte {
	dst, err := bsoncore.AppendDocumentEnd(dst, start)
	if err != nil {
		panic(err)
	}
	return dst
}

// rawPipeline hands an encoded pipeline to the driver without decoding it.
type rawPipeline []byte

func (p rawPipeline) MarshalBSONValue() (bsontype.Type, []byte, error) {
	return bsontype.Array, p, nil
}
