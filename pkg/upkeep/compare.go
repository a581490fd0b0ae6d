package upkeep

import (
	"bytes"
	"context"
	"fmt"

	"go.mongodb.org/mongo-driver/bson"

	"prejoin/pkg/mongodb"
	"prejoin/pkg/refresh"
	"prejoin/pkg/retry"
)

// compare reads the ids from both sides, MongoDB first: a document that is
// older than the shard's snapshot may then still be on its way, one that is
// newer cannot be.
func (v *verification) compare(ctx context.Context, ids []string) ([]Mismatch, error) {
	var stored map[string]bson.Raw
	var found []Mismatch
	err := retry.Do(ctx, retry.Policy{}, refresh.Temporary, func(ctx context.Context) (err error) {
		if stored, err = v.stored(ctx, ids); err != nil {
			return err
		}
		_, batch, err := v.walker.Refresher.Read(ctx, ids)
		if err != nil {
			return err
		}
		found = nil
		for _, id := range ids {
			if m := mismatch(id, v.report.Shard, batch.Document(id), stored[id]); m != nil {
				found = append(found, *m)
			}
		}
		return nil
	})
	return found, err
}

func (v *verification) stored(ctx context.Context, ids []string) (map[string]bson.Raw, error) {
	values := make(bson.A, len(ids))
	for i, id := range ids {
		value, err := v.walker.Refresher.ID(id)
		if err != nil {
			return nil, fmt.Errorf("reading the id %q: %w", id, err)
		}
		values[i] = value
	}
	cursor, err := v.walker.Lister.Find(ctx, mongodb.Find{Collection: v.walker.Refresher.Model().Collection(), Primary: true,
		Filter: bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: values}}}, mongodb.Live}})
	if err != nil {
		return nil, err
	}
	found := make(map[string]bson.Raw, len(ids))
	err = refresh.EachDocument(ctx, cursor, func(doc bson.Raw) error {
		id, err := refresh.IDText(doc.Lookup("_id"))
		found[id] = bytes.Clone(doc)
		return err
	})
	return found, err
}

// mismatch compares what the shard says of an id, nil where it has no row, with
// the stored document, nil where there is none.
func mismatch(id, shard string, want, have bson.Raw) *Mismatch {
	switch {
	case want == nil && have == nil:
		return nil
	case have == nil:
		return &Mismatch{ID: id, Kind: Missing}
	case want == nil:
		return &Mismatch{ID: id, Kind: Extra}
	}
	if fields := differing(want, have); len(fields) > 0 {
		return &Mismatch{ID: id, Kind: Different, Fields: fields}
	}
	if owner, _ := have.Lookup("_p", "s").StringValueOK(); owner != shard {
		return &Mismatch{ID: id, Kind: Different, Fields: []string{"_p.s"}}
	}
	return nil
}

// differing names the fields that are not equal byte for byte, in name, order,
// type and value; the stamp is not compared.
func differing(want, have bson.Raw) []string {
	a, b := elements(want), elements(have)
	var names []string
	for i := range max(len(a), len(b)) {
		switch {
		case i >= len(a):
			names = append(names, b[i].Key())
		case i >= len(b) || !bytes.Equal(a[i], b[i]):
			names = append(names, a[i].Key())
		}
	}
	return names
}

// elements are a document's elements without the stamp.
func elements(doc bson.Raw) []bson.RawElement {
	all, err := doc.Elements()
	if err != nil { // MongoDB does not hand out broken BSON
		return nil
	}
	kept := all[:0]
	for _, e := range all {
		if e.Key() != "_p" {
			kept = append(kept, e)
		}
	}
	return kept
}
