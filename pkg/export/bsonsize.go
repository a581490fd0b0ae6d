package export

import (
	"bytes"
	"encoding/binary"

	"go.mongodb.org/mongo-driver/bson/bsontype"
)

// valueSize is the number of bytes that a value of the type takes at the head of
// b; false where b is too short, or the type is unknown.
func valueSize(t bsontype.Type, b []byte) (int, bool) {
	n := -1
	switch t {
	case bsontype.Null, bsontype.Undefined, bsontype.MinKey, bsontype.MaxKey:
		n = 0
	case bsontype.Boolean:
		n = 1
	case bsontype.Int32:
		n = 4
	case bsontype.Int64, bsontype.DateTime, bsontype.Double, bsontype.Timestamp:
		n = 8
	case bsontype.ObjectID:
		n = 12
	case bsontype.Decimal128:
		n = 16
	case bsontype.String, bsontype.JavaScript, bsontype.Symbol:
		return stringSize(b)
	case bsontype.EmbeddedDocument, bsontype.Array, bsontype.CodeWithScope:
		return prefixed(b, 0, 5)
	case bsontype.Binary:
		return prefixed(b, 5, 5)
	case bsontype.DBPointer:
		return prefixed(b, 16, 17)
	case bsontype.Regex:
		return regexSize(b)
	}
	return n, n >= 0 && n <= len(b)
}

// prefixed adds extra to the length that b starts with.
func prefixed(b []byte, extra, least int64) (int, bool) {
	if len(b) < 4 {
		return 0, false
	}
	n := int64(int32(binary.LittleEndian.Uint32(b)))
	if n < 0 || n+extra < least || n+extra > int64(len(b)) {
		return 0, false
	}
	return int(n + extra), true
}

func stringSize(b []byte) (int, bool) {
	n, ok := prefixed(b, 4, 5)
	return n, ok && b[n-1] == 0
}

func regexSize(b []byte) (int, bool) {
	pattern := bytes.IndexByte(b, 0)
	if pattern < 0 {
		return 0, false
	}
	options := bytes.IndexByte(b[pattern+1:], 0)
	return pattern + options + 2, options >= 0
}
