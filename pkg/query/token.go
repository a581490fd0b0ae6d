package query

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/bsontype"
	"go.mongodb.org/mongo-driver/x/bsonx/bsoncore"
)

const (
	tokenForm   = 1    // first byte of every token
	macSize     = 16   // bytes of the HMAC-SHA256 that are kept
	maxToken    = 4096 // characters; a URL must carry it
	minTokenKey = 32   // bytes
)

// ErrKeyTooLong says that a sort key does not fit into a page token.
var ErrKeyTooLong = errors.New("the sort key is too long for a page token; export instead of paging, or sort by a shorter field")

// Tokens makes and checks page tokens. A token carries only the place where a
// page ended; what it belongs to is in its signature.
type Tokens struct{ keys [][]byte }

// NewTokens takes the signing keys, each of 32 bytes or more: the first signs,
// all are accepted, so that keys can be changed without breaking open pages.
func NewTokens(keys ...[]byte) (*Tokens, error) {
	if len(keys) == 0 {
		return nil, errors.New("making page tokens: no signing key; give one of 32 bytes")
	}
	for _, k := range keys {
		if len(k) < minTokenKey {
			return nil, fmt.Errorf("making page tokens: a signing key has %d bytes; give 32 or more", len(k))
		}
	}
	return &Tokens{keys: keys}, nil
}

// encode is base64url of form, key, id and signature.
func (t *Tokens) encode(p place, binding []byte) (string, error) {
	b := appendValue([]byte{tokenForm}, p.key)
	b = appendValue(b, p.id)
	b = append(b, mac(t.keys[0], binding, b)...)
	if base64.RawURLEncoding.EncodedLen(len(b)) > maxToken {
		return "", ErrKeyTooLong
	}
	return base64.RawURLEncoding.EncodeToString(b), nil
}

// decode checks the signature before it looks at anything else.
func (t *Tokens) decode(s string, binding []byte) (place, bool) {
	if t == nil || len(s) > maxToken {
		return place{}, false
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(s)
	if err != nil || len(b) < 1+macSize || b[0] != tokenForm {
		return place{}, false
	}
	body, sum := b[:len(b)-macSize], b[len(b)-macSize:]
	if !t.signed(binding, body, sum) {
		return place{}, false
	}
	key, rest, okKey := readValue(body[1:])
	id, rest, okID := readValue(rest)
	return place{key: key, id: id}, okKey && okID && len(rest) == 0
}

func (t *Tokens) signed(binding, body, sum []byte) bool {
	for _, k := range t.keys {
		if hmac.Equal(mac(k, binding, body), sum) {
			return true
		}
	}
	return false
}

func mac(key, binding, body []byte) []byte {
	h := hmac.New(sha256.New, key)
	h.Write(binding) // 32 bytes always, so the two parts cannot be shifted
	h.Write(body)
	return h.Sum(nil)[:macSize]
}

func appendValue(b []byte, v bson.RawValue) []byte {
	b = append(b, byte(v.Type))
	return append(binary.AppendUvarint(b, uint64(len(v.Value))), v.Value...)
}

func readValue(b []byte) (v bson.RawValue, rest []byte, ok bool) {
	if len(b) == 0 {
		return v, nil, false
	}
	n, used := binary.Uvarint(b[1:])
	if used <= 0 || n > uint64(len(b)-1-used) {
		return v, nil, false
	}
	v = bson.RawValue{Type: bsontype.Type(b[0]), Value: b[1+used : 1+used+int(n)]}
	rest = b[1+used+int(n):]
	core := bsoncore.Value{Type: v.Type, Data: v.Value}
	return v, rest, core.Validate() == nil
}

// bind is the digest of what a token belongs to.
func bind(parts ...[]byte) []byte {
	h := sha256.New()
	for _, p := range parts {
		var size [8]byte
		binary.BigEndian.PutUint64(size[:], uint64(len(p)))
		h.Write(size[:])
		h.Write(p)
	}
	return h.Sum(nil)
}
