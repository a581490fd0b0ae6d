package mongodb

import (
	"context"
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/bson/bsoncodec"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/x/mongo/driver"
)

// temporaryCodes are the server's errors that time cures, by the manual's
// list of error codes: elections, shutdowns, timeouts, conflicts, load.
var temporaryCodes = []int{
	6, 7, 89, 9001, // host unreachable or not found, network timeout, socket
	10107, 13435, 13436, 189, 11602, // not primary, recovering, stepped down
	91, 11600, // shutting down
	50, 262, 202, 46, 24, // maxTimeMS, time limits, locks
	64, 112, // write concern timed out, write conflict
	133, 134, 117, 365, // no member fits, majority unavailable, busy, out of cache
	11601, 43, 237, // interrupted by an operator, cursor lost with its server
	14031, // disk full, until someone makes room
}

const (
	codeSnapshotTooOld      = 239
	codeSnapshotUnavailable = 246
	codeNamespaceExists     = 48
	codeIndexConflict       = 85
	codeIndexKeysConflict   = 86
	codeInvalid             = 121
	codeDuplicate           = 11000
	codeTooLarge            = 10334
)

// classify says what was being done and whether time can cure the error.
func classify(ctx context.Context, doing string, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil: // the caller has stopped: whatever failed, failed for that
		return fmt.Errorf("%s: %w (%w)", doing, context.Cause(ctx), err)
	case hasCode(err, codeSnapshotTooOld):
		return fmt.Errorf("%s: %w (%w)", doing, ErrSnapshotTooOld, err)
	case hasCode(err, codeSnapshotUnavailable):
		return fmt.Errorf("%s: %w", doing, &temporary{fmt.Errorf("%w (%w)", ErrSnapshotUnavailable, err)})
	case isTemporary(err):
		return fmt.Errorf("%s: %w", doing, &temporary{err})
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// isTemporary is true for the errors that servers call transient, and for all
// that no server has judged: those are matters of the connection.
func isTemporary(err error) bool {
	var judged mongo.ServerError
	if !errors.As(err, &judged) {
		return !ours(err)
	}
	for _, label := range []string{"NetworkError", "RetryableWriteError", "TransientTransactionError", "ExceededTimeLimitError"} {
		if judged.HasErrorLabel(label) {
			return true
		}
	}
	for _, code := range temporaryCodes {
		if judged.HasErrorCode(code) {
			return true
		}
	}
	return mongo.IsNetworkError(err) || mongo.IsTimeout(err)
}

// ours is true for errors that never left this process.
func ours(err error) bool {
	var marshal mongo.MarshalError
	var decode *bsoncodec.DecodeError
	var own lasting
	return errors.As(err, &marshal) || errors.As(err, &decode) || errors.As(err, &own) || errors.Is(err, driver.ErrDocumentTooLarge) || errors.Is(err, mongo.ErrNoDocuments) ||
		errors.Is(err, mongo.ErrClientDisconnected) || errors.Is(err, mongo.ErrNilDocument)
}

func hasCode(err error, codes ...int) bool {
	var judged mongo.ServerError
	if !errors.As(err, &judged) {
		return false
	}
	for _, code := range codes {
		if judged.HasErrorCode(code) {
			return true
		}
	}
	return false
}
