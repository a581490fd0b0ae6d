package export

import (
	"encoding/binary"
	"math"
	"strconv"
	"time"

	"go.mongodb.org/mongo-driver/bson/bsontype"
)

// appendPlain appends the text of any value: what is written where the model
// expects another type. Nothing is lost: what has no plain text is extended JSON.
// The error is ErrDocument.
func appendPlain(dst []byte, v value) ([]byte, error) {
	switch v.kind {
	case bsontype.String:
		return append(dst, v.str()...), nil
	case bsontype.Int64:
		return strconv.AppendInt(dst, v.int(), 10), nil
	case bsontype.Int32:
		return strconv.AppendInt(dst, int64(int32(binary.LittleEndian.Uint32(v.data))), 10), nil
	case bsontype.Double:
		return strconv.AppendFloat(dst, math.Float64frombits(binary.LittleEndian.Uint64(v.data)), 'g', -1, 64), nil
	case bsontype.Decimal128:
		dst, _ = appendDecimal(dst, v.data)
		return dst, nil
	case bsontype.Boolean:
		return strconv.AppendBool(dst, v.data[0] != 0), nil
	case bsontype.DateTime:
		c := clock{loc: time.UTC}
		return c.appendTimestamp(dst, v.int()), nil
	}
	return appendCanonical(dst, v)
}
