package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"

	"github.com/labstack/echo/v4"
	"go.mongodb.org/mongo-driver/bson"

	"prejoin/pkg/access"
	"prejoin/pkg/export"
	"prejoin/pkg/query"
)

// maxPage is how many bytes of rows end a page before its limit does.
const maxPage = 16 << 20

// page answers GET /v1/{model}: {"data": [rows], "next": token or null}.
func (a *API) page(c echo.Context) error {
	p := principalOf(c)
	s, err := a.catalog.open(pathValue(c, "model"))
	if err != nil {
		return err
	}
	values, err := parameters(c)
	if err != nil {
		return err
	}
	q, err := query.Parse(s.model, p.Reader, values, query.Options{Collection: s.collection, Tokens: a.cfg.Tokens, Zone: a.cfg.Zone})
	if err != nil {
		return err
	}
	text, next, err := a.render(c.Request().Context(), q, s.collection, p.Reader)
	if err != nil {
		return err
	}
	if next != "" {
		values.Set("page", next)
		link := url.URL{Path: c.Request().URL.Path, RawQuery: values.Encode()}
		c.Response().Header().Set("Link", "<"+link.String()+`>; rel="next"`)
	}
	return send(c, text)
}

// pageText collects a page's rows.
type pageText struct {
	q    *query.Request
	rows *export.Object
	text []byte
	n    int
	last bson.Raw // the last row's document, copied
	more bool     // there is a row after the last
}

func (a *API) render(ctx context.Context, q *query.Request, collection string, r query.Reader) (text []byte, next string, err error) {
	l, err := layout(q, r, export.Config{})
	if err != nil {
		return nil, "", fmt.Errorf("laying out a page: %w", err)
	}
	t := &pageText{q: q, rows: export.NewObject(l), text: []byte(`{"data":[`)}
	view := access.NewView(q.Model, r)
	for _, s := range q.Segments {
		if t.more {
			break
		}
		f := finds(q, s, collection, q.Limit+1-t.n, a.cfg.PageTime)
		if err := each(ctx, a.store, f, view, t.take); err != nil {
			return nil, "", err
		}
	}
	return t.end()
}

// take adds a row, or learns that there is one more.
func (t *pageText) take(stored, shown bson.Raw) (bool, error) {
	if t.n == t.q.Limit || len(t.text) > maxPage {
		t.more = true
		return false, nil
	}
	if t.n > 0 {
		t.text = append(t.text, ',')
	}
	var err error
	if t.text, err = t.rows.Append(t.text, shown); err != nil {
		return false, fmt.Errorf("rendering a row: %w", err)
	}
	t.n++
	t.last = append(t.last[:0], stored...)
	return true, nil
}

func (t *pageText) end() (text []byte, next string, err error) {
	if !t.more {
		return append(t.text, "],\"next\":null}\n"...), "", nil
	}
	if next, err = t.q.Next(t.last); err != nil {
		return nil, "", problem(http.StatusUnprocessableEntity, query.SlugTooWide, "The request is too wide", "%s.", sentence(err))
	}
	quoted, err := json.Marshal(next)
	if err != nil {
		return nil, "", err
	}
	t.text = append(append(t.text, `],"next":`...), quoted...)
	return append(t.text, "}\n"...), next, nil
}
