package postgres

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// ErrLockTimeout is returned by reads that waited for a table lock longer than
// half of deadlock_timeout: try again after a jittered wait.
var ErrLockTimeout = errors.New("a table lock was not granted in time")

// Temporary tells whether trying again may help: connection losses, restarts,
// lock and serialization failures, lack of resources. A caller's own
// cancellation is not temporary.
func Temporary(err error) bool {
	if err == nil || errors.Is(err, context.Canceled) {
		return false
	}
	var pgErr *pgconn.PgError
	if errors.As(err, &pgErr) {
		return temporaryState(pgErr.Code)
	}
	var connectErr *pgconn.ConnectError
	var netErr net.Error
	return errors.Is(err, ErrLockTimeout) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &connectErr) ||
		errors.As(err, &netErr) || errors.Is(err, net.ErrClosed) || errors.Is(err, context.DeadlineExceeded) || pgconn.SafeToRetry(err)
}

// temporaryState classifies SQLSTATEs (PostgreSQL manual, appendix A): 08
// connection exception, 40 transaction rollback, 53 insufficient resources, 57
// operator intervention (a statement timeout and a shutdown too), 55P03 lock not
// available, 58 system error; 28 and 3D are configuration and not temporary.
func temporaryState(code string) bool {
	for _, class := range []string{"08", "40", "53", "57", "58"} {
		if strings.HasPrefix(code, class) {
			return true
		}
	}
	return code == "55P03"
}
