package mongodb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"go.mongodb.org/mongo-driver/mongo"
)

// TestLostConnectionIsNotTheEnd: the driver says a lost connection with an error
// that wraps io.EOF; a cursor's reader takes io.EOF for the end of the rows.
func TestLostConnectionIsNotTheEnd(t *testing.T) {
	lost := fmt.Errorf("connection() error: socket was unexpectedly closed: %w", io.EOF)
	err := cut(classify(context.Background(), "reading", lost))
	if errors.Is(err, io.EOF) || !Temporary(err) {
		t.Errorf("io.EOF in the chain: %v, temporary: %v: %v", errors.Is(err, io.EOF), Temporary(err), err)
	}
	other := mongo.CommandError{Code: codeSnapshotTooOld}
	if err := cut(classify(context.Background(), "reading", other)); !errors.Is(err, ErrSnapshotTooOld) {
		t.Errorf("lost what it was: %v", err)
	}
}
