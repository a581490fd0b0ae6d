package postgres_test

import (
	"net/url"
	"strings"
	"testing"

	"prejoin/pkg/postgres"
	"prejoin/pkg/postgres/wal"
	"prejoin/pkg/testenv"
)

// TestNoErrorRepeatsTheDSN: of one that is written wrongly any part may be the password.
func TestNoErrorRepeatsTheDSN(t *testing.T) {
	const secret = "s3cret"
	dsn, err := url.Parse(testenv.Postgres(t).CaptureDSN)
	if err != nil {
		t.Fatal(err)
	}
	swallowed, wrong, away := *dsn, *dsn, *dsn
	swallowed.Path = "/a,shard1=postgres://u:" + secret + "@h/d"
	wrong.User = url.UserPassword("u:"+secret, secret)
	away.Host, away.Path = "127.0.0.1:1", swallowed.Path
	for says, dsn := range map[string]string{"database": swallowed.String(), "password": wrong.String(), "127.0.0.1:1": away.String(),
		"cannot be parsed": "host=h password = " + secret + " port=x"} {
		for _, err := range []error{openShard(t, dsn), openSlot(t, dsn)} {
			if err == nil || strings.Contains(err.Error(), secret) || !strings.Contains(err.Error(), says) {
				t.Errorf("got %v, want %q", err, says)
			}
		}
	}
}

func openShard(t *testing.T, dsn string) error {
	s, err := postgres.Open(t.Context(), postgres.Config{Name: "shard0", DSN: dsn})
	if err == nil {
		s.Close()
	}
	return err
}

func openSlot(t *testing.T, dsn string) error {
	s, err := wal.Open(t.Context(), wal.Config{Shard: "shard0", DSN: dsn, Slot: "s", Publication: "prejoin"})
	if err != nil {
		return err
	}
	defer s.Close()
	if _, err = s.Tables(t.Context()); err == nil {
		return nil
	}
	if _, streamed := s.Stream(t.Context(), 0); streamed == nil || strings.Contains(streamed.Error(), "s3cret") {
		t.Errorf("Stream: %v", streamed)
	}
	return err
}
