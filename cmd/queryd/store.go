package main

import (
	"context"
	"errors"

	"prejoin/pkg/access"
	"prejoin/pkg/mongodb"
)

// keyStore is MongoDB as access knows it.
type keyStore struct{ db *mongodb.DB }

// Key returns a stored key or access.ErrUnknownKey.
func (s keyStore) Key(ctx context.Context, id string) (access.Key, error) {
	k, err := s.db.Key(ctx, id)
	if errors.Is(err, mongodb.ErrNotFound) {
		return access.Key{}, access.ErrUnknownKey
	}
	if err != nil {
		return access.Key{}, err
	}
	return access.Key{ID: k.ID, Hash: k.Hash, Name: k.Name, All: k.All, Scopes: k.Scopes, Personal: k.PII,
		Created: k.Created, Revoked: k.Revoked}, nil
}
