package postgres

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5/pgconn"
)

func errorAs[E error](err error) (E, bool) {
	var e E
	ok := errors.As(err, &e)
	return e, ok
}

// XactStatus is what the shard knows of a transaction.
type XactStatus string

// The statuses of pg_xact_status, and two of ours: Future where the shard has
// not given out the id yet (SQLSTATE 22023), Forgotten where it is too old.
const (
	InProgress XactStatus = "in progress"
	Committed  XactStatus = "committed"
	Aborted    XactStatus = "aborted"
	Forgotten  XactStatus = "forgotten"
	Future     XactStatus = "future"
)

// XactStatus asks what became of the transaction with these low 32 bits,
// widened next to near (a snapshot's XMax).
func (s *Shard) XactStatus(ctx context.Context, xid uint32, near uint64) (XactStatus, error) {
	var status *string
	full := strconv.FormatUint(Widen(xid, near), 10)
	err := s.pool.QueryRow(ctx, "SELECT pg_xact_status($1::text::xid8)", full).Scan(&status)
	if pgErr, ok := errorAs[*pgconn.PgError](err); ok && pgErr.Code == "22023" {
		return Future, nil
	}
	if err != nil {
		return "", fmt.Errorf("asking shard %s what became of transaction %s: %w", s.name, full, err)
	}
	if status == nil {
		return Forgotten, nil
	}
	return XactStatus(*status), nil
}
