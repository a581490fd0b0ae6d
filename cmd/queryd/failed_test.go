package main

import (
	"errors"
	"strings"
	"testing"
)

// TestNoPasswordIsPrinted, whoever wrote the error.
func TestNoPasswordIsPrinted(t *testing.T) {
	for _, text := range []string{"cannot parse `host=h password = s3cret port=x`", "dialing mongodb://u:s3cret@h:1/?replicaSet=r", `flag postgres://u:s3cret@h/d`} {
		var b strings.Builder
		if code := failed(&b, errors.New(text), exitFailed); code != exitFailed || strings.Contains(b.String(), "s3cret") || !strings.Contains(b.String(), "***") {
			t.Errorf("%d, printed %s", code, b.String())
		}
	}
}
