package httpapi

import (
	"errors"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"
)

// step is how many bytes a client must take within its patience: with 30 s, a
// client of 9 kB/s is slow and served, one that takes nothing is cut.
const step = 256 << 10

// patientWriter moves the write deadline with each step, so that the length of
// an export has no limit but a stuck client has.
type patientWriter struct {
	w        *echo.Response
	control  *http.ResponseController
	patience time.Duration
}

// newPatientWriter flushes past Echo's Response, whose Flush drops the error.
func newPatientWriter(w *echo.Response, patience time.Duration) *patientWriter {
	return &patientWriter{w: w, control: http.NewResponseController(w.Writer), patience: patience}
}

func (p *patientWriter) Write(b []byte) (n int, err error) {
	for len(b) > 0 && err == nil {
		if err = p.extend(); err != nil {
			return n, err
		}
		var k int
		k, err = p.w.Write(b[:min(len(b), step)])
		n, b = n+k, b[k:]
	}
	return n, err
}

// Flush pushes on to the client what was written. Before the first byte it does
// nothing: it would send the status, and a problem could not be answered any more.
func (p *patientWriter) Flush() error {
	if !p.w.Committed {
		return nil
	}
	if err := p.extend(); err != nil {
		return err
	}
	return p.control.Flush()
}

func (p *patientWriter) extend() error {
	err := p.control.SetWriteDeadline(time.Now().Add(p.patience))
	if errors.Is(err, http.ErrNotSupported) {
		return nil // a recorder of a test
	}
	return err
}
