package mongodb

import (
	"errors"

	"go.mongodb.org/mongo-driver/bson"
)

// Live is the part of a filter that leaves tombstones out.
var Live = bson.E{Key: "_p.del", Value: bson.D{{Key: "$exists", Value: false}}}

// stamp is a document's _p: who wrote it and from which snapshot.
type stamp struct {
	shard   string
	version Version
	gone    bool // a tombstone
}

var errNoStamp = errors.New("the document has no _p {v: {e, r}, s}; it was not written by Prejoin")

// stampOf reads a document's _p.
func stampOf(doc bson.Raw) (stamp, error) {
	value, err := doc.LookupErr("_p")
	if err != nil {
		return stamp{}, errNoStamp
	}
	p, ok := value.DocumentOK()
	if !ok {
		return stamp{}, errNoStamp
	}
	var s stamp
	if s.shard, ok = p.Lookup("s").StringValueOK(); !ok {
		return stamp{}, errNoStamp
	}
	e, okE := p.Lookup("v", "e").AsInt64OK()
	r, okR := p.Lookup("v", "r").AsInt64OK()
	if !okE || !okR {
		return stamp{}, errNoStamp
	}
	s.version = Version{e, r}
	_, err = p.LookupErr("del")
	s.gone = err == nil
	return s, nil
}
