package mongodb

import (
	"context"
	"errors"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/primitive"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"
)

// Snapshot reads several finds at one instant. The server keeps an instant for
// 300 s by default; a find or batch after that ends with ErrSnapshotTooOld.
// End it after its cursors are closed.
type Snapshot struct {
	db      *DB
	mu      sync.Mutex
	session mongo.Session
	at      primitive.Timestamp
}

// Snapshot fixes the instant, which is that of a first small read.
func (db *DB) Snapshot(ctx context.Context) (*Snapshot, error) {
	session, err := db.reader.StartSession(options.Session().SetSnapshot(true))
	if err != nil {
		return nil, classify(ctx, "starting a snapshot", err)
	}
	s := &Snapshot{db: db, session: session}
	if err := s.pin(ctx); err != nil {
		s.End()
		return nil, classify(ctx, "starting a snapshot", err)
	}
	return s, nil
}

func (s *Snapshot) pin(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, s.db.readTimeout)
	defer cancel()
	err := s.db.r.Collection(modelsCollection).FindOne(mongo.NewSessionContext(limited, s.session), bson.D{}).Err()
	if err != nil && !errors.Is(err, mongo.ErrNoDocuments) {
		return err
	}
	// The time has no other way out of the driver (checked with 1.17.10).
	x, ok := s.session.(mongo.XSession) //nolint:staticcheck // deprecated as unstable; a test holds it
	if !ok || x.ClientSession().SnapshotTime == nil {
		return errNoInstant
	}
	s.at = *x.ClientSession().SnapshotTime
	return nil
}

// errNoInstant: the server names no instant where the collection is missing.
const errNoInstant = lasting("the server named no instant, for " + modelsCollection + " does not exist; start the projector once, which prepares the database")

// Model returns a model's record as it was at the snapshot's instant, or
// ErrNotFound: what was served then is what a find of this snapshot may read.
func (s *Snapshot) Model(ctx context.Context, name string) (*ModelRecord, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var r ModelRecord
	err := record(ctx, "reading the record of model "+name, func(ctx context.Context) error {
		return s.db.r.Collection(modelsCollection).FindOne(mongo.NewSessionContext(ctx, s.session), bson.D{op("_id", name)}).Decode(&r)
	})
	if err != nil {
		return nil, err
	}
	return &r, nil
}

// Find starts a query at the snapshot's instant.
func (s *Snapshot) Find(ctx context.Context, f Find) (*Cursor, error) {
	return s.db.find(ctx, f, s)
}

// Time is the instant that is read, to the second, on MongoDB's clock.
func (s *Snapshot) Time() time.Time { return time.Unix(int64(s.at.T), 0).UTC() }

// Timestamp is the same instant as MongoDB orders it (cluster time).
func (s *Snapshot) Timestamp() primitive.Timestamp { return s.at }

// End frees the session. No cursor of it may be read after that.
func (s *Snapshot) End() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.session.EndSession(context.Background())
}
