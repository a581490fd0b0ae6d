package access

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// shelf is a store in memory that counts look-ups.
type shelf struct {
	mu    sync.Mutex
	keys  map[string]Key
	asked int
	err   error
	slow  time.Duration
}

func (s *shelf) Key(_ context.Context, id string) (Key, error) {
	time.Sleep(s.slow)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	k, ok := s.keys[id]
	if s.err == nil && !ok {
		return Key{}, ErrUnknownKey
	}
	return k, s.err
}

func (s *shelf) change(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

func header(pairs ...string) http.Header {
	h := http.Header{}
	for i := 0; i < len(pairs); i += 2 {
		h.Add(pairs[i], pairs[i+1])
	}
	return h
}

func TestAuthenticate(t *testing.T) {
	k, text := NewKey("shop")
	other, otherText := NewKey("other")
	revoked, revokedText := NewKey("old")
	k.Scopes, revoked.Revoked = map[string][]any{"merchant": {int64(1)}}, time.Now()
	a := NewAuthenticator(&shelf{keys: map[string]Key{k.ID: k, other.ID: other, revoked.ID: revoked}}, 0)
	f := func(name string, want error, h http.Header) {
		t.Helper()
		p, err := a.Authenticate(t.Context(), h)
		if !errors.Is(err, want) || err == nil && (p.KeyID != k.ID || p.Scopes["merchant"][0] != int64(1) || p.All) {
			t.Errorf("%s: %+v, %v, want %v", name, p, err, want)
		}
	}
	f("bearer", nil, header("Authorization", "Bearer "+text))
	f("lower case", nil, header("Authorization", "bearer "+text))
	f("plain", nil, header("X-Api-Key", text))
	f("both the same", nil, header("X-Api-Key", text, "Authorization", "Bearer "+text))
	f("none", ErrNoKey, header())
	f("both", ErrBadKey, header("X-Api-Key", text, "Authorization", "Bearer "+otherText))
	f("two", ErrBadKey, header("X-Api-Key", text, "X-Api-Key", otherText))
	f("basic", ErrBadKey, header("Authorization", "Basic "+text))
	f("empty", ErrBadKey, header("Authorization", ""))
	f("cut", ErrBadKey, header("X-Api-Key", text[:len(text)-1]))
	f("revoked", ErrBadKey, header("X-Api-Key", revokedText))
	f("foreign secret", ErrBadKey, header("X-Api-Key", text[:len("pj_")+idLength+1]+otherText[len(otherText)-secretText:]))
	unknown, unknownText := NewKey("unknown")
	f("unknown "+unknown.ID, ErrBadKey, header("X-Api-Key", unknownText))
	f("operators", ErrBadKey, header("X-Api-Key", "pj_{$ne:null}}}_"+strings.Repeat("a", secretText)))
}

// A key without a hash in the store is no key for anyone.
func TestEmptyHashOpensNothing(t *testing.T) {
	k, text := NewKey("x")
	k.Hash = nil
	a := NewAuthenticator(&shelf{keys: map[string]Key{k.ID: k}}, 0)
	if _, err := a.Authenticate(t.Context(), header("X-Api-Key", text)); !errors.Is(err, ErrBadKey) {
		t.Error(err)
	}
}

func TestRevokedKeyEndsWithTheCache(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k, text := NewKey("shop")
		store := &shelf{keys: map[string]Key{k.ID: k}}
		a := NewAuthenticator(store, 3*time.Second)
		ask := func() error { _, err := a.Authenticate(t.Context(), header("X-Api-Key", text)); return err }
		for range 10 {
			if err := ask(); err != nil {
				t.Fatal(err)
			}
		}
		if store.asked != 1 {
			t.Errorf("%d look-ups of a cached key", store.asked)
		}
		store.change(func() { k.Revoked = time.Now(); store.keys[k.ID] = k })
		time.Sleep(3*time.Second + 1)
		if err := ask(); !errors.Is(err, ErrBadKey) {
			t.Errorf("a revoked key still works after the cache's time: %v", err)
		}
	})
}

// A store that is down is not a bad key, and one look-up serves all who wait.
func TestStoreErrorsAreOurs(t *testing.T) {
	_, text := NewKey("shop")
	store := &shelf{err: errors.New("no primary"), slow: 50 * time.Millisecond}
	a := NewAuthenticator(store, 0)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			_, err := a.Authenticate(t.Context(), header("X-Api-Key", text))
			if err == nil || errors.Is(err, ErrBadKey) || errors.Is(err, ErrNoKey) {
				t.Errorf("%v", err)
			}
		})
	}
	all.Wait()
	if store.asked > 5 {
		t.Errorf("%d look-ups for 20 requests at once", store.asked)
	}
}

func TestCacheIsBounded(t *testing.T) {
	c := newCache(time.Minute)
	for i := range 3 * maxCached {
		c.put(Key{ID: fmt.Sprint(i)})
		c.putUnknown(fmt.Sprint("x", i))
	}
	if len(c.keys) > maxCached || len(c.unknown) > maxCached {
		t.Errorf("%d keys and %d unknown ids are remembered", len(c.keys), len(c.unknown))
	}
}

// One unknown id is looked up once, and many of them a few at a time.
func TestUnknownKeysAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &shelf{slow: time.Second}
		a := NewAuthenticator(store, 3*time.Second)
		ask := func(text string) error { _, err := a.Authenticate(t.Context(), header("X-Api-Key", text)); return err }
		k, text := NewKey("x")
		for range 5 {
			if err := ask(text); !errors.Is(err, ErrBadKey) {
				t.Fatal(err)
			}
		}
		if store.asked != 1 {
			t.Errorf("%d look-ups of one unknown id", store.asked)
		}
		store.change(func() { store.keys = map[string]Key{k.ID: k} })
		time.Sleep(3*time.Second + 1)
		if err := ask(text); err != nil {
			t.Errorf("a key that was made meanwhile: %v", err)
		}
		store.change(func() { store.asked = 0 })
		var all sync.WaitGroup
		for range 10 * maxLookups {
			_, text := NewKey("x")
			all.Go(func() { _ = ask(text) })
		}
		time.Sleep(time.Second + time.Millisecond)
		synctest.Wait()
		store.change(func() {
			if store.asked != maxLookups {
				t.Errorf("%d look-ups in a second, each of a second", store.asked)
			}
		})
		all.Wait()
	})
}

func FuzzSplitKey(f *testing.F) {
	_, text := NewKey("x")
	f.Add(text)
	f.Add("pj__")
	f.Fuzz(func(t *testing.T, text string) {
		if id, secret, ok := splitKey(text); ok && "pj_"+id+"_"+secret != text {
			t.Errorf("%q", text)
		}
	})
}
