package access

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"golang.org/x/sync/singleflight"

	"prejoin/pkg/query"
)

var (
	// ErrNoKey is returned by Authenticate where a request carries no key.
	ErrNoKey = errors.New("no API key was sent; send Authorization: Bearer pj_… or X-API-Key: pj_…")
	// ErrBadKey is returned for a key that is malformed, unknown or revoked;
	// which of them is nobody's business.
	ErrBadKey = errors.New("the API key is not valid; check that it was copied whole and not revoked")
	// ErrUnknownKey is what a Store returns for an id that it does not have.
	ErrUnknownKey = errors.New("unknown key")
)

// Store finds stored keys.
type Store interface {
	// Key returns the key of that id, revoked or not, or ErrUnknownKey.
	Key(ctx context.Context, id string) (Key, error)
}

// Principal is who a valid key stands for.
type Principal struct {
	KeyID string
	Name  string
	query.Reader
}

// Authenticator turns requests into principals.
type Authenticator struct {
	store   Store
	cache   *cache
	flight  singleflight.Group
	lookups chan struct{} // a place for each look into the store
}

// maxLookups bounds the looks into the store at once: anyone can send ids that
// nobody has.
const maxLookups = 16

// lookupTime bounds one look into the store, whoever waits for it.
const lookupTime = 5 * time.Second

// NewAuthenticator looks keys up in the store and remembers what it found for ttl
// (0: 3 s), which is how long a revoked key may still work, and how long a key
// may be unknown that was asked for before it was made.
func NewAuthenticator(store Store, ttl time.Duration) *Authenticator {
	if ttl <= 0 {
		ttl = 3 * time.Second
	}
	return &Authenticator{store: store, cache: newCache(ttl), lookups: make(chan struct{}, maxLookups)}
}

// Authenticate returns the principal of a request, ErrNoKey, ErrBadKey, or an
// error of the store, which is nobody's fault but ours.
func (a *Authenticator) Authenticate(ctx context.Context, h http.Header) (*Principal, error) {
	text, err := keyText(h)
	if err != nil {
		return nil, err
	}
	id, secret, ok := splitKey(text)
	if !ok {
		return nil, ErrBadKey
	}
	k, err := a.key(ctx, id)
	if err != nil && !errors.Is(err, ErrUnknownKey) {
		return nil, fmt.Errorf("looking the API key up: %w", err)
	}
	// The secret is compared in constant time. That an id is unknown does show in
	// the time, by its look-up: ids are public, and only the secret opens anything.
	same := subtle.ConstantTimeCompare(hash(secret), padded(k.Hash)) == 1
	if err != nil || !same || !k.Revoked.IsZero() {
		return nil, ErrBadKey
	}
	return principal(k), nil
}

// keyText is the key that the request carries. One in each header is refused
// unless they agree: which counts must not depend on a proxy.
func keyText(h http.Header) (string, error) {
	bearer, plain := h.Values("Authorization"), h.Values("X-Api-Key")
	if len(bearer) == 0 && len(plain) == 0 {
		return "", ErrNoKey
	}
	if len(bearer) > 1 || len(plain) > 1 {
		return "", ErrBadKey
	}
	if len(bearer) == 0 {
		return plain[0], nil
	}
	scheme, text, _ := strings.Cut(bearer[0], " ")
	if !strings.EqualFold(scheme, "Bearer") || len(plain) == 1 && plain[0] != text {
		return "", ErrBadKey
	}
	return strings.TrimSpace(text), nil
}

func padded(stored []byte) []byte {
	if len(stored) == 0 {
		return make([]byte, 32)
	}
	return stored
}

// key asks the cache, then the store. Requests with one id share a look-up,
// which therefore does not end with any one of them.
func (a *Authenticator) key(ctx context.Context, id string) (Key, error) {
	if k, known, ok := a.cache.get(id); ok {
		if !known {
			return Key{}, ErrUnknownKey
		}
		return k, nil
	}
	found := a.flight.DoChan(id, func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookupTime)
		defer cancel()
		return a.lookUp(ctx, id)
	})
	select {
	case r := <-found:
		k, _ := r.Val.(Key)
		return k, r.Err
	case <-ctx.Done():
		return Key{}, context.Cause(ctx)
	}
}

// lookUp asks the store, when it is this look-up's turn.
func (a *Authenticator) lookUp(ctx context.Context, id string) (Key, error) {
	select {
	case a.lookups <- struct{}{}:
		defer func() { <-a.lookups }()
	case <-ctx.Done():
		return Key{}, context.Cause(ctx)
	}
	k, err := a.store.Key(ctx, id)
	switch {
	case errors.Is(err, ErrUnknownKey), err == nil && !k.Revoked.IsZero():
		a.cache.putUnknown(id)
	case err == nil:
		a.cache.put(k)
	}
	return k, err
}

func principal(k Key) *Principal {
	role := query.RoleReader
	if k.Personal {
		role = query.RoleFull
	}
	return &Principal{KeyID: k.ID, Name: k.Name, Reader: query.Reader{Key: k.ID, All: k.All, Scopes: k.Scopes, Role: role}}
}
