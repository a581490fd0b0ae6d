package mongodb

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
)

// Key is an API key as it is stored: the hash of its secret, never the secret.
type Key struct {
	ID     string // public, 12 characters
	Hash   []byte // SHA-256 of the secret
	Name   string // for people
	All    bool   // may read everything; Scopes is empty then
	Scopes map[string][]any
	// Scopes limits the key: a scope's name to the values it may read, each
	// int64 or string as the documents store it.
	PII     bool // sees personal fields unmasked
	Created time.Time
	Revoked time.Time // zero: in use
}

type keyRecord struct {
	ID      string     `bson:"_id"`
	Hash    []byte     `bson:"hash"`
	Name    string     `bson:"name"`
	Scopes  bson.M     `bson:"scopes"` // {all: true} or {<scope>: [values]}
	PII     bool       `bson:"pii,omitempty"`
	Created time.Time  `bson:"created"`
	Revoked *time.Time `bson:"revoked,omitempty"`
}

// InsertKey stores a new key.
func (db *DB) InsertKey(ctx context.Context, k Key) error {
	stored, err := k.record()
	if err != nil {
		return fmt.Errorf("storing a key: %w", err)
	}
	return record(ctx, "storing a key", func(ctx context.Context) error {
		_, err := db.w.Collection(keysCollection).InsertOne(ctx, stored)
		if mongo.IsDuplicateKeyError(err) {
			return lasting("a key of the id " + k.ID + " exists; make another")
		}
		return err
	})
}

func (k Key) record() (keyRecord, error) {
	r := keyRecord{ID: k.ID, Hash: k.Hash, Name: k.Name, Scopes: bson.M{}, PII: k.PII, Created: k.Created.UTC()}
	if k.ID == "" || len(k.Hash) != sha256.Size {
		return r, errors.New("it needs an id and the SHA-256 of its secret")
	}
	if k.All == (len(k.Scopes) > 0) {
		return r, errors.New("it reads either everything or some scopes; name one of the two")
	}
	if k.All {
		r.Scopes["all"] = true
	}
	for scope, values := range k.Scopes {
		if len(values) == 0 {
			return r, fmt.Errorf("its scope %s has no values; name at least one", scope)
		}
		for _, v := range values {
			switch v.(type) {
			case int64, string:
			default:
				return r, fmt.Errorf("its scope %s holds a %T; only int64 and string are scope values", scope, v)
			}
		}
		r.Scopes[scope] = values
	}
	return r, nil
}

func (r keyRecord) key() (Key, error) {
	k := Key{ID: r.ID, Hash: r.Hash, Name: r.Name, PII: r.PII, Created: r.Created}
	if r.Revoked != nil {
		k.Revoked = *r.Revoked
	}
	for scope, stored := range r.Scopes {
		switch v := stored.(type) {
		case bson.A:
			if k.Scopes == nil {
				k.Scopes = map[string][]any{}
			}
			k.Scopes[scope] = v
		case bool:
			k.All = scope == "all" && v
		default:
			return Key{}, fmt.Errorf("reading key %s: its scope %s is a %T; revoke the key and make another", r.ID, scope, stored)
		}
	}
	return k, nil
}

// Key returns the key of that id, revoked or not, or ErrNotFound.
func (db *DB) Key(ctx context.Context, id string) (*Key, error) {
	var r keyRecord
	if err := db.readOne(ctx, "reading a key", keysCollection, id, &r); err != nil {
		return nil, err
	}
	k, err := r.key()
	if err != nil {
		return nil, err
	}
	return &k, nil
}

// Keys returns all keys, by id.
func (db *DB) Keys(ctx context.Context) ([]Key, error) {
	var stored []keyRecord
	if err := db.readAll(ctx, "reading the keys", keysCollection, bson.D{}, &stored); err != nil {
		return nil, err
	}
	keys := make([]Key, len(stored))
	for i, r := range stored {
		var err error
		if keys[i], err = r.key(); err != nil {
			return nil, err
		}
	}
	return keys, nil
}

// RevokeKey marks the key as revoked from now on, or returns ErrNotFound. The
// time of a first revocation stays.
func (db *DB) RevokeKey(ctx context.Context, id string) error {
	return record(ctx, "revoking a key", func(ctx context.Context) error {
		result, err := db.w.Collection(keysCollection).UpdateOne(ctx, bson.D{op("_id", id)},
			bson.A{bson.D{op("$set", bson.D{op("revoked", bson.D{op("$ifNull", bson.A{"$revoked", "$$NOW"})})})}})
		if err == nil && result.MatchedCount == 0 {
			return mongo.ErrNoDocuments
		}
		return err
	})
}
