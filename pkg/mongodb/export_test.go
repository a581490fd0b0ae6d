package mongodb

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/event"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"
)

// Aged is the clock as it were sampled d earlier.
func (c Clock) Aged(d time.Duration) Clock {
	c.server, c.taken = c.server.Add(-d), c.taken.Add(-d)
	return c
}

// Behind is a clock of a server that runs d behind this one, freshly sampled:
// what a bulk carries when the primary changes to one whose clock is ahead.
func (c Clock) Behind(d time.Duration) Clock {
	c.server = c.server.Add(-d)
	return c
}

// OfOtherTerm is the clock of an earlier primary.
func (c Clock) OfOtherTerm() Clock {
	c.term--
	return c
}

// InTime shows inTime.
func (db *DB) InTime(c Clock) bool { return db.inTime(c) }

// Raw is the database under the write client.
func (db *DB) Raw() *mongo.Database { return db.w }

// Bare sends the bulk's models without looking at the result.
func (db *DB) Bare(ctx context.Context, b Bulk) error {
	_, err := b.chunks(func(c chunk) error {
		_, err := db.w.Collection(b.Collection).BulkWrite(ctx, c.models, options.BulkWrite().SetOrdered(false))
		return err
	})
	return err
}

// Pipelines are the bulk's updates in their readable form.
func (b Bulk) Pipelines() (filters []bson.Raw, pipelines []bson.RawValue, err error) {
	_, err = b.chunks(func(c chunk) error {
		for _, m := range c.models {
			u := m.(*mongo.UpdateOneModel)
			filters = append(filters, u.Filter.(bson.Raw))
			pipelines = append(pipelines, bson.RawValue{Type: bson.TypeArray, Value: u.Update.(rawPipeline)})
		}
		return nil
	})
	return filters, pipelines, err
}

// Models are the bulk's first chunk, for a bare loop that pays for no encoding.
func (b Bulk) Models() (models []mongo.WriteModel, err error) {
	_, err = b.chunks(func(c chunk) error { models = append(models, c.models...); return nil })
	return models, err
}

// LimitBulks makes bulks end sooner than in 30 s.
func (db *DB) LimitBulks(d time.Duration) { db.bulkTimeout = d }

// IsTemporary shows isTemporary.
var IsTemporary = isTemporary

// Trace calls see with each command of that name before it is sent.
func (cfg Config) Trace(name string, see func(bson.Raw)) Config {
	cfg.monitor = &event.CommandMonitor{Started: func(_ context.Context, e *event.CommandStartedEvent) {
		if e.CommandName == name {
			see(e.Command)
		}
	}}
	return cfg
}
