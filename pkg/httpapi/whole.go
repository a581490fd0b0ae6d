package httpapi

import (
	"context"
	"errors"
	"fmt"
	"io"

	"go.mongodb.org/mongo-driver/bson"

	"prejoin/pkg/export"
)

// ended tells the last row from a lost connection. The driver's error for a
// socket that was closed wraps io.EOF, so errors.Is would take the death of a
// server for the end of the rows: of four exports in flight when mongod was
// killed, one ended cleanly with 7,000 of 40,000 rows.
func ended(err error) bool {
	return err == io.EOF //nolint:errorlint // see above
}

// wholeRows hides what an error wraps from those who look for io.EOF in it,
// and keeps the error.
type wholeRows struct {
	rows export.Rows
	err  error
}

var errRows = errors.New("the rows ended before the last")

func (w *wholeRows) Next(ctx context.Context) ([]bson.Raw, error) {
	batch, err := w.rows.Next(ctx)
	if err == nil || ended(err) {
		return batch, err
	}
	w.err = fmt.Errorf("reading rows: %w", err)
	return nil, errRows
}

// cause is the rows' own error, where it was they that failed.
func (w *wholeRows) cause(err error) error {
	if errors.Is(err, errRows) {
		return w.err
	}
	return err
}
