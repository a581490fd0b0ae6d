package mongodb

import (
	"fmt"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/x/bsonx/bsoncore"
)

const (
	// The driver splits at 16 MiB too; a chunk that it never splits is one
	// command, whose maxTimeMS holds for all of it.
	maxChunkBytes  = 16 << 20
	maxChunkWrites = 1000
	// maxStatement is what the driver lets one update be, filter and pipeline
	// included; one larger would fail the whole bulk.
	maxStatement = 16 << 20
	// The bytes that the driver puts around a filter and a pipeline.
	statementRoom = 64
)

// chunk is one command's worth of a bulk.
type chunk struct {
	models []mongo.WriteModel
	places []int // of each model, its place in the bulk
}

var yes = true

// chunks encodes a bulk piece by piece and calls do with each. Writes that no
// command could carry are returned as poison.
func (b Bulk) chunks(do func(chunk) error) (poison []Poison, err error) {
	cond, err := newCondition(b)
	if err != nil {
		return nil, err
	}
	for next := 0; next < len(b.Writes); {
		var c chunk
		var large []Poison
		c, large, next = b.chunk(cond, next)
		poison = append(poison, large...)
		if len(c.models) == 0 {
			continue
		}
		if err := do(c); err != nil {
			return nil, err
		}
	}
	return poison, nil
}

// chunk takes writes from first on, as many as fit, and says where the next begins.
func (b Bulk) chunk(cond condition, first int) (c chunk, poison []Poison, next int) {
	fixed := len(cond.appendPipeline(nil, Write{ID: b.Writes[first].ID})) + statementRoom
	room, last := 0, first
	for ; last < len(b.Writes) && last-first < maxChunkWrites; last++ {
		w := b.Writes[last]
		size := fixed + len(w.Doc) + 3*len(w.ID.Value)
		if size > maxStatement {
			poison = append(poison, tooLarge(last, w))
			continue
		}
		if room+size > maxChunkBytes {
			break
		}
		room += size
		c.places = append(c.places, last)
	}
	buf := make([]byte, 0, room)
	models := make([]mongo.UpdateOneModel, len(c.places))
	c.models = make([]mongo.WriteModel, len(c.places))
	for i, place := range c.places {
		buf = cond.appendModel(buf, b.Writes[place], &models[i])
		c.models[i] = &models[i]
	}
	return c, poison, last
}

// appendModel encodes one write behind buf and makes the model point there.
// A buf that grows leaves the earlier models on its old bytes, which are right.
func (c condition) appendModel(buf []byte, w Write, model *mongo.UpdateOneModel) []byte {
	start := len(buf)
	buf = c.appendPipeline(buf, w)
	middle := len(buf)
	filter, buf := bsoncore.AppendDocumentStart(buf)
	buf = bsoncore.AppendValueElement(buf, "_id", bsoncore.Value{Type: w.ID.Type, Data: w.ID.Value})
	buf = end(buf, filter)
	model.Update = rawPipeline(buf[start:middle:middle])
	model.Filter = bson.Raw(buf[middle:len(buf):len(buf)])
	model.Upsert = &yes
	return buf
}

func tooLarge(place int, w Write) Poison {
	return Poison{Index: place, ID: w.ID, Reason: TooLarge,
		Err: fmt.Errorf("the document has %d bytes, and with its condition must stay under MongoDB's limit of 16 MiB", len(w.Doc))}
}
