package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"prejoin/pkg/access"
	"prejoin/pkg/mongodb"
	"prejoin/pkg/query"
)

// typePrefix makes a slug a type URI. It is a name, not an address.
const typePrefix = "urn:prejoin:problem:"

// statusGone is what the metrics and the log say of a client that left before
// its answer: no status was sent. (nginx counts them as 499 too.)
const statusGone = 499

func problem(status int, slug, title, format string, args ...any) *query.Problem {
	return &query.Problem{Status: status, Slug: slug, Title: title, Detail: fmt.Sprintf(format, args...)}
}

// problemOf maps every error to what a client may know of it.
func problemOf(err error) *query.Problem {
	if p, ok := errors.AsType[*query.Problem](err); ok {
		return p
	}
	if h, ok := errors.AsType[*echo.HTTPError](err); ok {
		return ofEcho(h)
	}
	switch {
	case errors.Is(err, access.ErrNoKey), errors.Is(err, access.ErrBadKey):
		return problem(http.StatusUnauthorized, "unauthorized", "A valid API key is needed", "%s.", sentence(err))
	case errors.Is(err, context.Canceled):
		return problem(statusGone, "client-gone", "The client has gone", "The connection was closed before the answer.")
	case errors.Is(err, mongodb.ErrSnapshotTooOld):
		return unavailable("The export took longer to begin than MongoDB keeps an instant; try again.")
	case errors.Is(err, mongodb.ErrIndexMissing):
		return problem(http.StatusServiceUnavailable, "model-unavailable", "The model is not served now", "An index that this request needs is missing; start the projector with queryd's model file, which makes it.")
	case mongodb.Temporary(err), errors.Is(err, context.DeadlineExceeded):
		return unavailable("The read model cannot be read just now, or the request takes too long; try again, with a narrower range if it stays so.")
	}
	return problem(http.StatusInternalServerError, "internal", "Internal error", "The request failed for a reason that is in queryd's log under this request id.")
}

func unavailable(detail string) *query.Problem {
	return problem(http.StatusServiceUnavailable, "unavailable", "Not available now", "%s", detail)
}

func ofEcho(h *echo.HTTPError) *query.Problem {
	switch h.Code {
	case http.StatusNotFound:
		return problem(h.Code, "unknown-route", "Not found", "There is nothing at this path; GET /v1 lists the models.")
	case http.StatusMethodNotAllowed:
		return problem(h.Code, "method-not-allowed", "Method not allowed", "This path answers GET and HEAD only.")
	}
	return problem(h.Code, "http-"+fmt.Sprint(h.Code), http.StatusText(h.Code), "The request was refused: %s.", http.StatusText(h.Code))
}

func sentence(err error) string {
	s := err.Error()
	return strings.ToUpper(s[:1]) + s[1:]
}

// body is a problem as RFC 9457 writes it, with the request's id.
type body struct {
	Type      string `json:"type"`
	Title     string `json:"title"`
	Status    int    `json:"status"`
	Detail    string `json:"detail"`
	RequestID string `json:"requestId"`
}

// answer is the one place where an error becomes an answer. After the first
// byte the connection is cut instead.
func (a *API) answer(err error, c echo.Context) {
	p := problemOf(err)
	noteProblem(c, p)
	if p.Status == http.StatusInternalServerError || errors.Is(err, mongodb.ErrIndexMissing) {
		a.log.Error("request failed", "request_id", requestID(c), "route", c.Path(), "error", err)
	}
	if c.Response().Committed || p.Status == statusGone {
		panic(http.ErrAbortHandler)
	}
	a.write(c, p)
}

func (a *API) write(c echo.Context, p *query.Problem) {
	_ = http.NewResponseController(c.Response()).SetWriteDeadline(time.Now().Add(problemTime)) // not every writer of a test has one
	h := c.Response().Header()
	for _, name := range []string{"Content-Disposition", "Trailer", "Prejoin-Instant", "X-Accel-Buffering", "Link"} {
		h.Del(name)
	}
	switch p.Status {
	case http.StatusUnauthorized:
		h.Set("WWW-Authenticate", `Bearer realm="prejoin"`)
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		h.Set("Retry-After", "2")
	}
	text, err := json.Marshal(body{typePrefix + p.Slug, p.Title, p.Status, p.Detail, requestID(c)})
	if err != nil {
		text = []byte("{}") // five strings and a number: it cannot happen
	}
	if err := c.Blob(p.Status, "application/problem+json", append(text, '\n')); err != nil {
		a.log.Debug("problem not delivered", "request_id", requestID(c), "error", err)
	}
}
