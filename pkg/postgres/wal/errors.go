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

func state(err error) string {
	var pgErr *pgconn.PgError
	if errors.As(err, &pgErr) {
		return pgErr.Code
	}
	return ""
}
