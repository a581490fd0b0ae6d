package httpapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/labstack/echo/v4"

	"prejoin/pkg/query"
	"prejoin/pkg/readmodel"
)

type modelList struct {
	Models []readmodel.Description `json:"models"`
}

// models answers GET /v1: the models that the key can read.
func (a *API) models(c echo.Context) error {
	if c.Request().URL.RawQuery != "" {
		return problem(http.StatusBadRequest, query.SlugUnknownParameter, "Unknown parameter", "The list of models takes no parameters; leave them out.")
	}
	reader := principalOf(c).Reader
	list := modelList{Models: []readmodel.Description{}}
	for _, m := range a.cfg.Models {
		if reader.CanRead(m) {
			list.Models = append(list.Models, describe(m, reader))
		}
	}
	return sendJSON(c, list)
}

// describe leaves out what this reader cannot use: hidden fields, and patterns
// that are for operators.
func describe(m *readmodel.Model, r query.Reader) readmodel.Description {
	d := m.Describe()
	fields, access := d.Fields[:0:0], d.Access[:0:0]
	for i := range m.Fields {
		if r.Sees(&m.Fields[i]) != query.Hidden {
			fields = append(fields, d.Fields[i])
		}
	}
	for _, p := range d.Access {
		if r.Uses(p.Scope) {
			access = append(access, p)
		}
	}
	d.Fields, d.Access = fields, access
	return d
}

// sendJSON renders before it writes the status.
func sendJSON(c echo.Context, v any) error {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("rendering JSON: %w", err)
	}
	return send(c, text.Bytes())
}

func send(c echo.Context, text []byte) error {
	return c.Blob(http.StatusOK, echo.MIMEApplicationJSON, text)
}
