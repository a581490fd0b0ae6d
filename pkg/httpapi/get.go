package httpapi

import (
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"
	"go.mongodb.org/mongo-driver/bson"

	"prejoin/pkg/access"
	"prejoin/pkg/export"
	"prejoin/pkg/query"
)

// get answers GET /v1/{model}/{id}: the document, or the same 404 for an unknown
// id, one outside the key's scope, and one that was deleted.
func (a *API) get(c echo.Context) error {
	p := principalOf(c)
	s, err := a.catalog.open(pathValue(c, "model"))
	if err != nil {
		return err
	}
	values, err := parameters(c)
	if err != nil {
		return err
	}
	id := pathValue(c, "id")
	q, err := query.ByID(s.model, p.Reader, id, values, query.Options{Zone: a.cfg.Zone})
	if err != nil {
		return err
	}
	l, err := layout(q, p.Reader, export.Config{})
	if err != nil {
		return err
	}
	var text []byte
	f := finds(q, q.Segments[0], s.collection, 1, a.cfg.PageTime)
	err = each(c.Request().Context(), a.store, f, access.NewView(s.model, p.Reader), func(_, shown bson.Raw) (bool, error) {
		text, err = export.NewObject(l).Append(nil, shown)
		return false, err
	})
	if err != nil {
		return err
	}
	if text == nil {
		return noSuch(s.model.Name, id)
	}
	return send(c, append(text, '\n'))
}

func noSuch(model, id string) error {
	if strings.HasPrefix(id, "export.") {
		return problem(http.StatusNotFound, "unknown-format", "Unknown format", "Exports of %s are %s.", model, formatNames())
	}
	return problem(http.StatusNotFound, "unknown-id", "Not found", "There is no %s of this id, or none that this key can read.", model)
}
