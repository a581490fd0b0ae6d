package httpapi

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/labstack/echo/v4"
	"go.mongodb.org/mongo-driver/bson"

	"prejoin/pkg/access"
	"prejoin/pkg/export"
	"prejoin/pkg/mongodb"
	"prejoin/pkg/query"
	"prejoin/pkg/readmodel"
)

// parameters reads the query string strictly: net/url's own reading leaves out
// what it cannot parse, and a filter that is left out widens the answer.
func parameters(c echo.Context) (url.Values, error) {
	values, err := url.ParseQuery(c.Request().URL.RawQuery)
	if err != nil {
		return nil, problem(http.StatusBadRequest, query.SlugBadParameter, "Bad parameter", "The query string cannot be read; percent-encode %%, & and ; in values.")
	}
	return values, nil
}

// pathValue is a path parameter, decoded once.
func pathValue(c echo.Context, name string) string {
	v := c.Param(name)
	if c.Request().URL.RawPath == "" {
		return v
	}
	if decoded, err := url.PathUnescape(v); err == nil {
		return decoded
	}
	return v
}

// finds makes one segment of a request a find.
func finds(q *query.Request, s query.Segment, collection string, limit int, maxTime time.Duration) mongodb.Find {
	index := mongodb.AccessIndex{Name: "_id_"}
	if q.Access != nil {
		index = mongodb.Index(q.Model, *q.Access)
	}
	return mongodb.Find{Collection: collection, Filter: index.Within(s.Filter), Sort: s.Sort, Projection: q.Projection,
		Limit: int64(limit), MaxTime: maxTime, Hint: index.Name}
}

// layout is the request's fields as export writes them. Where some of an
// array's fields are hidden, the others are named one by one. The error of a
// reader who sees no field is a *query.Problem: no column at all would mean all.
func layout(q *query.Request, r query.Reader, cfg export.Config) (*export.Layout, error) {
	for _, f := range q.Fields {
		cfg.Columns = append(cfg.Columns, columns(f, r)...)
	}
	if len(cfg.Columns) == 0 {
		return nil, problem(http.StatusForbidden, query.SlugPersonalField, "Personal field", "This key sees no field of %s; use another key.", q.Model.Name)
	}
	cfg.Location = q.Zone
	return export.NewLayout(q.Model, cfg)
}

func columns(f *readmodel.Field, r query.Reader) []string {
	if f.Child == nil || !slices.ContainsFunc(f.Child.Fields, func(c readmodel.Field) bool { return r.Sees(&c) == query.Hidden }) {
		return []string{f.Name}
	}
	var names []string
	for i := range f.Child.Fields {
		if c := &f.Child.Fields[i]; r.Sees(c) != query.Hidden {
			names = append(names, f.Name+"."+c.Name)
		}
	}
	return names
}

// each reads a find to its end or until take says stop. What take gets is as
// the principal may see it, beside the document as it is stored.
func each(ctx context.Context, from Finder, f mongodb.Find, view access.View, take func(stored, shown bson.Raw) (more bool, err error)) error {
	cursor, err := from.Find(ctx, f)
	if err != nil {
		return err
	}
	defer cursor.Close()
	var buf []byte
	for {
		batch, err := cursor.Next(ctx)
		if err == io.EOF { //nolint:errorlint // a lost connection wraps io.EOF and is not the end
			return nil
		}
		if err != nil {
			return err
		}
		for _, doc := range batch {
			if buf, err = view.Show(buf[:0], doc); err != nil {
				return err
			}
			if more, err := take(doc, buf); err != nil || !more {
				return err
			}
		}
	}
}
