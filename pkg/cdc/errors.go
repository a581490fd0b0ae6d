package cdc

import (
	"errors"
	"fmt"
)

// ErrUndecodable is what every error of Decode wraps. Decoding the same bytes again gives the same error: a caller parks them.
var ErrUndecodable = errors.New("undecodable message")

func refuse(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrUndecodable, fmt.Sprintf(format, args...))
}
