package query

import (
	"bytes"
	"net/url"
	"testing"

	"go.mongodb.org/mongo-driver/bson"
)

func document(t testing.TB, d bson.D) bson.Raw {
	t.Helper()
	raw, err := bson.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// A token opens the page it was made for, and nothing else.
func TestTokenIsBound(t *testing.T) {
	first, err := parse(t, seller, "status=PAID")
	if err != nil {
		t.Fatal(err)
	}
	token, err := first.Next(document(t, bson.D{{Key: "_id", Value: int64(9)}, {Key: "payDue", Value: nil}}))
	if err != nil {
		t.Fatal(err)
	}
	f := func(name string, ok bool, change func(m *Options, r *Reader, v url.Values) int) {
		t.Helper()
		m, r, v := sample(), seller, url.Values{"status": {"PAID"}, "page": {token}}
		o := Options{Collection: "settlement_v1", Tokens: testTokens(t)}
		m.Version = change(&o, &r, v)
		if _, err := Parse(m, r, v, o); (err == nil) != ok {
			t.Errorf("%s: %v", name, err)
		}
	}
	f("same", true, func(*Options, *Reader, url.Values) int { return 1 })
	f("other limit", true, func(_ *Options, _ *Reader, v url.Values) int { v.Set("limit", "7"); return 1 })
	f("version", false, func(*Options, *Reader, url.Values) int { return 2 })
	f("collection", false, func(o *Options, _ *Reader, _ url.Values) int { o.Collection = "settlement_v2"; return 1 })
	f("key", false, func(_ *Options, r *Reader, _ url.Values) int { r.Key = "m2"; return 1 })
	f("filter", false, func(_ *Options, _ *Reader, v url.Values) int { v.Set("status", "HELD"); return 1 })
	f("sort", false, func(_ *Options, _ *Reader, v url.Values) int { v.Set("sort", "payDue"); return 1 })
	f("scope", false, func(_ *Options, r *Reader, _ url.Values) int {
		r.Scopes = map[string][]any{"merchant": {int64(1)}}
		return 1
	})
	f("signing key", false, func(o *Options, _ *Reader, _ url.Values) int {
		o.Tokens, _ = NewTokens(bytes.Repeat([]byte{8}, 32))
		return 1
	})
	f("rotated key", true, func(o *Options, _ *Reader, _ url.Values) int {
		o.Tokens, _ = NewTokens(bytes.Repeat([]byte{8}, 32), bytes.Repeat([]byte{7}, 32))
		return 1
	})
}

// No change of any character makes another token that is accepted.
func TestTokenCannotBeForged(t *testing.T) {
	tokens, binding := testTokens(t), bind([]byte("x"))
	at, err := placeOf(sample(), sample().Access[0].Sort, document(t, bson.D{{Key: "_id", Value: int64(9)}, {Key: "payDue", Value: "a"}}))
	if err != nil {
		t.Fatal(err)
	}
	token, err := tokens.encode(at, binding)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := tokens.decode(token, binding); !ok {
		t.Fatal("the token itself is refused")
	}
	for i := range token {
		for _, c := range []byte("Aa0_-") {
			forged := []byte(token)
			forged[i] = c
			if _, ok := tokens.decode(string(forged), binding); ok && string(forged) != token {
				t.Errorf("%s is accepted", forged)
			}
		}
		if _, ok := tokens.decode(token[:i], binding); ok {
			t.Errorf("%s is accepted", token[:i])
		}
	}
}

func TestLongSortKeyIsAnError(t *testing.T) {
	first, err := parse(t, seller, "sort=orderNo")
	if err != nil {
		t.Fatal(err)
	}
	long := string(bytes.Repeat([]byte("x"), maxToken))
	if _, err := first.Next(document(t, bson.D{{Key: "_id", Value: int64(9)}, {Key: "orderNo", Value: long}})); err == nil {
		t.Error("a token longer than a URL was made")
	}
}

func TestShortSigningKeyIsRefused(t *testing.T) {
	if _, err := NewTokens([]byte("short")); err == nil {
		t.Error("accepted")
	}
}
