package wal

import (
	"errors"

	"github.com/jackc/pgx/v5/pgconn"

	"prejoin/pkg/postgres"
)

var (
	// ErrSlotLost is returned by EnsureSlot and Stream: changes since the last confirmed one may be gone. Trying again does not help.
	ErrSlotLost = errors.New("replication slot lost")
	// ErrSlotActive is returned by Stream while another process reads the slot. It is temporary.
	ErrSlotActive = errors.New("replication slot is read by another process")
)

// Temporary tells whether trying again may help.
func Temporary(err error) bool {
	return !errors.Is(err, ErrSlotLost) && (errors.Is(err, ErrSlotActive) || postgres.Temporary(err))
}

// said is an error under a text of its own: the server and pgx repeat user and database, which may be the password where a DSN is
// written wrongly.
type said struct {
	text string
	err  error
}

func (e *said) Error() string { return e.text }
func (e *said) Unwrap() error { return e.err }

func state(err error) string {
	var pgErr *pgconn.PgError
	if errors.As(err, &pgErr) {
		return pgErr.Code
	}
	return ""
}
