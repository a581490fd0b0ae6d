package synthetic

import (
	"fmt"
	"math/rand/v2"
	"time"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/primitive"

	"prejoin/pkg/readmodel"
)

// childRows is how many rows each array of a document has.
const childRows = 3

// Documents makes n documents of the model with ascending ids.
func Documents(m *readmodel.Model, n int) ([]bson.Raw, error) {
	g := generator{rand.New(rand.NewPCG(1, 2))} // a fixed seed: parity needs the same documents
	docs := make([]bson.Raw, n)
	for i := range docs {
		doc, err := bson.Marshal(g.document(m, int64(i+1)))
		if err != nil {
			return nil, fmt.Errorf("building document %d of model %s: %w", i+1, m.Name, err)
		}
		docs[i] = doc
	}
	return docs, nil
}

type generator struct{ *rand.Rand }

// document has the id first, then the fields in model order, then the stamp.
func (g generator) document(m *readmodel.Model, id int64) bson.D {
	doc := bson.D{{Key: "_id", Value: id}}
	for _, f := range m.Fields {
		if f.Name != m.ID {
			doc = append(doc, bson.E{Key: f.Name, Value: g.value(f)})
		}
	}
	version := bson.D{{Key: "e", Value: int64(1)}, {Key: "r", Value: 1000 + id}}
	return append(doc, bson.E{Key: "_p", Value: bson.D{{Key: "v", Value: version}, {Key: "s", Value: "shard0"}, {Key: "t", Value: day}}})
}

var (
	day   = primitive.NewDateTimeFromTime(time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC))
	words = []string{"겨울 기모 맨투맨", "스테인리스 텀블러 500ml", "유기농 \"햇\" 사과, 5kg", "무선 이어폰 케이스 🎧", "한우 선물세트"}
)

func (g generator) value(f readmodel.Field) any {
	switch f.Type {
	case readmodel.Int64:
		return g.Int64N(1 << 40)
	case readmodel.Decimal:
		return g.decimal(f.Scale)
	case readmodel.Bool:
		return g.IntN(2) == 0
	case readmodel.Enum:
		return f.Values[g.IntN(len(f.Values))].Value
	case readmodel.Date:
		return day + primitive.DateTime(g.IntN(30))*86_400_000
	case readmodel.Timestamp:
		return day + primitive.DateTime(g.IntN(30*86_400_000))
	case readmodel.Array:
		return g.rows(f.Child)
	}
	return g.text()
}

// text is null one time in ten.
func (g generator) text() any {
	if g.IntN(10) == 0 {
		return nil
	}
	return words[g.IntN(len(words))]
}

func (g generator) decimal(scale int) primitive.Decimal128 {
	d, err := primitive.ParseDecimal128(fmt.Sprintf("%dE-%d", g.Int64N(1e12), scale))
	if err != nil {
		panic(err) // the format above is always a number
	}
	return d
}

func (g generator) rows(c *readmodel.Child) bson.A {
	rows := make(bson.A, childRows)
	for i := range rows {
		row := make(bson.D, len(c.Fields))
		for j, f := range c.Fields {
			row[j] = bson.E{Key: f.Name, Value: g.value(f)}
		}
		rows[i] = row
	}
	return rows
}
