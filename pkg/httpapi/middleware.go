package httpapi

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"runtime/debug"
	"time"

	"github.com/labstack/echo/v4"

	"prejoin/pkg/access"
	"prejoin/pkg/query"
)

const (
	maxURL     = 8 << 10          // bytes of a request's target
	answerTime = 60 * time.Second // until an answer has left; an export moves it
	// problemTime is what a problem gets to leave, from when it is known: the
	// answer's own time may be over then.
	problemTime = 10 * time.Second
)

const (
	keyRequestID = "prejoin.request_id"
	keyPrincipal = "prejoin.principal"
	keyProblem   = "prejoin.problem"
)

var requestIDForm = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// identify gives a request an id: the client's, if it has a harmless form.
func (a *API) identify(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		id := c.Request().Header.Get("X-Request-Id")
		if !requestIDForm.MatchString(id) {
			id = rand.Text()
		}
		c.Set(keyRequestID, id)
		h := c.Response().Header()
		h.Set("X-Request-Id", id)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cache-Control", "private, no-store")
		return next(c)
	}
}

func requestID(c echo.Context) string {
	id, _ := c.Get(keyRequestID).(string)
	return id
}

func noteProblem(c echo.Context, p *query.Problem) { c.Set(keyProblem, p) }

// observe counts, times and logs a request, also one that was cut. The query
// string is not logged: it may name people.
func (a *API) observe(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		start := time.Now()
		finished := false
		defer func() {
			status := c.Response().Status
			if p, ok := c.Get(keyProblem).(*query.Problem); ok {
				status = p.Status
			}
			if !finished && status == http.StatusOK {
				status = statusGone
			}
			a.metrics.request(route(c), status, time.Since(start))
			a.log.Debug("request", "request_id", requestID(c), "method", c.Request().Method, "route", route(c), "status", status, "ms", time.Since(start).Milliseconds())
		}()
		if err := next(c); err != nil {
			a.answer(err, c)
		}
		finished = true
		return nil
	}
}

// route is the pattern that matched: few values, whatever is asked.
func route(c echo.Context) string {
	if c.Path() == "" {
		return "unknown"
	}
	return c.Path()
}

// recover turns a panic into a problem. http.ErrAbortHandler is how an export is
// cut and must reach net/http.
func (a *API) recover(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) (err error) {
		defer func() {
			r := recover()
			if r == nil {
				return
			}
			if e, ok := r.(error); ok && errors.Is(e, http.ErrAbortHandler) {
				panic(http.ErrAbortHandler)
			}
			a.log.Error("panic", "request_id", requestID(c), "route", route(c), "panic", fmt.Sprint(r), "stack", string(debug.Stack()))
			err = fmt.Errorf("serving a request: panic: %v", r)
		}()
		return next(c)
	}
}

// limits refuses long targets and bodies, and bounds the time of an answer.
// An export moves that bound with each of its writes.
func (a *API) limits(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r, control := c.Request(), http.NewResponseController(c.Response())
		_ = control.SetWriteDeadline(time.Now().Add(a.answerTime)) // not every writer of a test has one
		if len(r.RequestURI) > maxURL {
			return problem(http.StatusRequestURITooLong, "url-too-long", "The URL is too long", "The URL has %d bytes and at most %d are read; name fewer values.", len(r.RequestURI), maxURL)
		}
		if r.ContentLength != 0 {
			_ = control.SetReadDeadline(time.Now().Add(time.Second)) // net/http reads what is left of the body
			c.Response().Header().Set("Connection", "close")
			return problem(http.StatusRequestEntityTooLarge, "body-refused", "No body is read", "This API reads no request body; put filters into the URL.")
		}
		return next(c)
	}
}

// admit limits how many requests run at once, whoever sends them: before a key
// is looked up, since that is work too.
func (a *API) admit(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		select {
		case a.places <- struct{}{}:
			defer func() { <-a.places }()
			return next(c)
		default:
			return problem(http.StatusServiceUnavailable, "busy", "Too many requests at once", "queryd has %d requests running, which is its limit; try again in a moment.", cap(a.places))
		}
	}
}

// authenticate lets only principals in.
func (a *API) authenticate(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		p, err := a.auth.Authenticate(c.Request().Context(), c.Request().Header)
		if err != nil {
			return err
		}
		c.Set(keyPrincipal, p)
		return next(c)
	}
}

// principalOf panics without a principal: a route that forgot to authenticate
// must fail, not serve.
func principalOf(c echo.Context) *access.Principal { return c.Get(keyPrincipal).(*access.Principal) }
