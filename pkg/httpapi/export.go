package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"prejoin/pkg/access"
	"prejoin/pkg/export"
	"prejoin/pkg/mongodb"
	"prejoin/pkg/query"
)

// The trailers of an export. Prejoin-Rows and Prejoin-Digest come only after
// the last row: their absence means that the file is not whole.
const (
	trailerRows     = "Prejoin-Rows"
	trailerDigest   = "Prejoin-Digest"
	trailerReported = "Prejoin-Reported"
	trailerTiming   = "Server-Timing"
)

// export answers GET /v1/{model}/export.{format} in that format.
func (a *API) export(f format) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		if !r.ProtoAtLeast(1, 1) {
			return problem(http.StatusHTTPVersionNotSupported, "http-version", "HTTP/1.1 is needed",
				"In HTTP/1.0 a download that was cut looks complete; use HTTP/1.1 (in nginx: proxy_http_version 1.1).")
		}
		j, err := a.prepare(c, f)
		if err != nil {
			return err
		}
		if r.Method == http.MethodHead { // reads nothing, so it has no instant
			j.headers(c, time.Now())
			return c.NoContent(http.StatusOK)
		}
		leave, err := a.gate.enter(j.principal.KeyID)
		if err != nil {
			return err
		}
		defer leave()
		if err := j.encode(); err != nil {
			return err
		}
		return a.stream(c, j)
	}
}

// download is one export that is about to be sent.
type download struct {
	format     format
	principal  *access.Principal
	query      *query.Request
	collection string
	layout     *export.Layout
	encoder    export.Encoder
	digest     *export.Digest
}

// encode makes the encoder, which costs memory: only within the gate.
func (j *download) encode() (err error) {
	if j.encoder, err = j.format.encoder(j.layout, j.query.End); err != nil {
		return fmt.Errorf("making the encoder of %s: %w", j.format.name, err)
	}
	j.digest = export.NewDigest(j.layout)
	return nil
}

func (a *API) prepare(c echo.Context, f format) (*download, error) {
	p := principalOf(c)
	s, err := a.catalog.open(pathValue(c, "model"))
	if err != nil {
		return nil, err
	}
	values, err := parameters(c)
	if err != nil {
		return nil, err
	}
	q, err := query.Parse(s.model, p.Reader, values, query.Options{Collection: s.collection, Zone: a.cfg.Zone, Export: true})
	if err != nil {
		return nil, err
	}
	cfg := export.Config{}
	if f.table && q.Lang != "" {
		cfg.Lang, cfg.Labels = q.Lang, true
	}
	l, err := layout(q, p.Reader, cfg)
	if _, known := errors.AsType[*query.Problem](err); known {
		return nil, err
	}
	if err != nil {
		return nil, problem(http.StatusBadRequest, query.SlugBadParameter, "Bad parameter", "%s.", sentence(err))
	}
	return &download{format: f, principal: p, query: q, collection: s.collection, layout: l}, nil
}

// headers are set before the first byte; trailers must be announced there.
func (j *download) headers(c echo.Context, at time.Time) {
	h := c.Response().Header()
	h.Set("Content-Type", j.format.contentType)
	h.Set("Content-Disposition", disposition(fileName(j.query, j.format.name, at)))
	h.Set("X-Accel-Buffering", "no") // nginx: what is flushed here reaches the client
	h.Set("Trailer", strings.Join([]string{trailerRows, trailerDigest, trailerReported, trailerTiming}, ", "))
}

// stream reads all rows at one instant and sends them. After the first byte an
// error can only be told by cutting the connection: a returned error would end
// the chunked body cleanly (measured with Echo 4.16).
func (a *API) stream(c echo.Context, j *download) (err error) {
	a.metrics.running.Inc()
	defer a.metrics.running.Dec()
	var result export.Result
	defer func() { a.metrics.export(j.format.name, result, err) }()
	ctx := c.Request().Context()
	snapshot, err := a.store.Snapshot(ctx)
	if err != nil {
		return err
	}
	defer snapshot.End()
	rows, err := a.find(ctx, snapshot, j)
	if err != nil {
		return err
	}
	defer rows.Close()
	j.headers(c, snapshot.Time())
	c.Response().Header().Set("Prejoin-Instant", snapshot.Time().Format(time.RFC3339))
	view := access.NewView(j.query.Model, j.principal.Reader)
	result, err = a.send(ctx, c, j, view.Rows(rows))
	if err != nil {
		return err
	}
	j.trailers(c, result)
	return nil
}

// find begins to read, once it is sure that the collection served the model at
// the instant and is still there: a find in one that is not there gives no rows
// and a clean end. The second look comes after the find, which holds on to what
// it reads.
func (a *API) find(ctx context.Context, snapshot *mongodb.Snapshot, j *download) (*mongodb.Cursor, error) {
	m := j.query.Model
	r, err := snapshot.Model(ctx, m.Name)
	if err != nil && !errors.Is(err, mongodb.ErrNotFound) {
		return nil, err
	}
	if err != nil || r.Served != j.collection {
		return nil, unserved(m.Name, "another collection is served since a moment ago; try again")
	}
	rows, err := snapshot.Find(ctx, finds(j.query, j.query.Segments[0], j.collection, 0, a.cfg.ExportTime))
	if err != nil {
		return nil, err
	}
	missing, err := a.store.Missing(ctx, m, j.collection)
	if err == nil && len(missing) > 0 {
		err = unserved(m.Name, incomplete(missing))
	}
	if err != nil {
		rows.Close()
		return nil, err
	}
	return rows, nil
}

func (a *API) send(ctx context.Context, c echo.Context, j *download, rows export.Rows) (export.Result, error) {
	result, err := export.Stream(ctx, rows, j.encoder, newPatientWriter(c.Response(), a.cfg.Patience), export.Options{Digest: j.digest})
	if err != nil && result.Started {
		a.log.Warn("export cut", "request_id", requestID(c), "model", j.query.Model.Name, "format", j.format.name, "rows", result.Rows, "error", err)
	}
	return result, err
}

func (j *download) trailers(c echo.Context, r export.Result) {
	h := c.Response().Header()
	h.Set(trailerRows, strconv.FormatInt(r.Rows, 10))
	h.Set(trailerDigest, "sha-256="+r.Digest)
	var reported []string
	for _, loss := range r.Reported {
		reported = append(reported, fmt.Sprintf("%s;%s=%d", loss.Column, loss.Kind, loss.Count))
	}
	if len(reported) > 0 {
		h.Set(trailerReported, strings.Join(reported, ", "))
	}
	var timing []string
	for _, s := range sections(r.Sections) {
		timing = append(timing, fmt.Sprintf("%s;dur=%.1f", s.name, float64(s.took.Microseconds())/1000))
	}
	h.Set(trailerTiming, strings.Join(timing, ", "))
}
