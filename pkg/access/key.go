package access

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"time"
)

// Key is an API key as it is stored.
type Key struct {
	ID       string // public, 12 characters
	Hash     []byte // SHA-256 of the secret
	Name     string // for people
	All      bool   // may read everything; Scopes is empty then
	Scopes   map[string][]any
	Personal bool // sees personal fields as they are
	Created  time.Time
	Revoked  time.Time // zero: in use
}

// Scopes maps a scope's name to the values that the key may read, int64 or
// string. A key with two scopes reads only what is inside both.

const (
	keyPrefix   = "pj_"
	idLength    = 12
	secretBytes = 32
	secretText  = 43 // base64url of 32 bytes
	keyLength   = len(keyPrefix) + idLength + 1 + secretText
)

const idAlphabet = "abcdefghijkmnpqrstuvwxyz23456789" // 32 letters that are read without doubt

// NewKey makes an id and a secret. The text is the only place where the secret
// is: it is shown once and never stored.
func NewKey(name string) (k Key, text string) {
	secret, id := make([]byte, secretBytes), make([]byte, idLength)
	_, _ = rand.Read(secret) // never fails
	_, _ = rand.Read(id)
	for i, b := range id {
		id[i] = idAlphabet[int(b)%len(idAlphabet)]
	}
	encoded := base64.RawURLEncoding.EncodeToString(secret)
	k = Key{ID: string(id), Name: name, Hash: hash(encoded), Created: time.Now().UTC()}
	return k, keyPrefix + k.ID + "_" + encoded
}

// splitKey takes a key's text apart; the lengths are fixed, since a secret may
// hold underscores too.
func splitKey(text string) (id, secret string, ok bool) {
	if len(text) != keyLength || !strings.HasPrefix(text, keyPrefix) || text[len(keyPrefix)+idLength] != '_' {
		return "", "", false
	}
	id = text[len(keyPrefix):][:idLength]
	if strings.Trim(id, idAlphabet) != "" {
		return "", "", false
	}
	return id, text[keyLength-secretText:], true
}

func hash(secret string) []byte {
	sum := sha256.Sum256([]byte(secret))
	return sum[:]
}
