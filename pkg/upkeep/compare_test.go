package upkeep

import (
	"reflect"
	"testing"

	"go.mongodb.org/mongo-driver/bson"
)

func raw(t *testing.T, d bson.D) bson.Raw {
	t.Helper()
	b, err := bson.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestMismatches(t *testing.T) {
	stamp := func(shard string) bson.E { return bson.E{Key: "_p", Value: bson.D{{Key: "s", Value: shard}}} }
	want := raw(t, bson.D{{Key: "_id", Value: int64(1)}, {Key: "a", Value: "x"}, {Key: "b", Value: int64(2)}, stamp("shard0")})
	f := func(have bson.D, kind Kind, fields ...string) {
		t.Helper()
		m := mismatch("1", "shard0", want, raw(t, have))
		switch {
		case kind == "" && m != nil:
			t.Errorf("%v: got %+v", have, m)
		case kind != "" && (m == nil || m.Kind != kind || !reflect.DeepEqual(m.Fields, fields)):
			t.Errorf("%v: got %+v, want %s %v", have, m, kind, fields)
		}
	}
	f(bson.D{{Key: "_id", Value: int64(1)}, {Key: "a", Value: "x"}, {Key: "b", Value: int64(2)}, stamp("shard0")}, "")
	f(bson.D{{Key: "_id", Value: int64(1)}, {Key: "a", Value: "y"}, {Key: "b", Value: int64(2)}, stamp("shard0")}, Different, "a")
	f(bson.D{{Key: "_id", Value: int64(1)}, {Key: "a", Value: "x"}, {Key: "b", Value: int32(2)}, stamp("shard0")}, Different, "b") // byte for byte
	f(bson.D{{Key: "_id", Value: int64(1)}, {Key: "a", Value: "x"}, stamp("shard0")}, Different, "b")
	f(bson.D{{Key: "_id", Value: int64(1)}, {Key: "b", Value: int64(2)}, {Key: "a", Value: "x"}, stamp("shard0")}, Different, "a", "b")
	f(bson.D{{Key: "_id", Value: int64(1)}, {Key: "a", Value: "x"}, {Key: "b", Value: int64(2)}, {Key: "c", Value: 1}, stamp("shard0")}, Different, "c")
	f(bson.D{{Key: "_id", Value: int64(1)}, {Key: "a", Value: "x"}, {Key: "b", Value: int64(2)}, stamp("shard1")}, Different, "_p.s")
	if m := mismatch("1", "shard0", want, nil); m == nil || m.Kind != Missing {
		t.Errorf("no document: %+v", m)
	}
	if m := mismatch("1", "shard0", nil, want); m == nil || m.Kind != Extra {
		t.Errorf("no row: %+v", m)
	}
	if m := mismatch("1", "shard0", nil, nil); m != nil {
		t.Errorf("neither: %+v", m)
	}
}
