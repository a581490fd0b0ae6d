package export

import (
	"encoding/binary"
	"strconv"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/bsontype"
)

// appendCanonical appends a value as canonical extended JSON, byte for byte as the
// driver's MarshalExtJSON writes it, without making a Go value of the usual types.
func appendCanonical(dst []byte, v value) ([]byte, error) {
	switch v.kind {
	case bsontype.Null, 0: // a missing field counts as null
		return append(dst, "null"...), nil
	case bsontype.String:
		dst, _ = appendString(dst, v.str())
		return dst, nil
	case bsontype.Boolean:
		return strconv.AppendBool(dst, v.data[0] != 0), nil
	case bsontype.Int32:
		dst = append(dst, `{"$numberInt":"`...)
		dst = strconv.AppendInt(dst, int64(int32(binary.LittleEndian.Uint32(v.data))), 10)
		return append(dst, `"}`...), nil
	case bsontype.Int64:
		return appendLong(dst, v.int()), nil
	case bsontype.Decimal128:
		dst = append(dst, `{"$numberDecimal":"`...)
		dst, _ = appendDecimal(dst, v.data)
		return append(dst, `"}`...), nil
	case bsontype.DateTime:
		dst = append(dst, `{"$date":`...)
		return append(appendLong(dst, v.int()), '}'), nil
	}
	return appendRare(dst, v)
}

func appendLong(dst []byte, n int64) []byte {
	dst = append(dst, `{"$numberLong":"`...)
	dst = strconv.AppendInt(dst, n, 10)
	return append(dst, `"}`...)
}

// appendRare asks the driver: these types are in no model.
func appendRare(dst []byte, v value) ([]byte, error) {
	text, err := bson.MarshalExtJSON(bson.D{{Key: "v", Value: bson.RawValue{Type: v.kind, Value: v.data}}}, true, false)
	if err != nil {
		return dst, ErrDocument
	}
	return append(dst, text[len(`{"v":`):len(text)-1]...), nil
}
