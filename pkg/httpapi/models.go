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
	Models []listed `json:"models"`
}

// models answers GET /v1: the models that the key can read.
func (a *API) models(c echo.Context) error {
	if c.Request().URL.RawQuery != "" {
		return problem(http.StatusBadRequest, query.SlugUnknownParameter, "Unknown parameter", "The list of models takes no parameters; leave them out.")
	}
	reader := principalOf(c).Reader
	list := modelList{Models: []listed{}}
	for _, m := range a.cfg.Models {
		if reader.CanRead(m) {
			list.Models = append(list.Models, listed{Description: describe(m, reader)})
		}
	}
	return sendJSON(c, list)
}

// describe leaves out what this reader cannot use: hidden fields and parts of
// fields, patterns that are for others, and reports, which no export takes yet.
func describe(m *readmodel.Model, r query.Reader) readmodel.Description {
	d := m.Describe()
	var access []readmodel.AccessDescription
	for _, p := range d.Access {
		if r.Uses(p.Scope) {
			access = append(access, p)
		}
	}
	d.Fields, d.Access, d.Reports = seen(m.Fields, d.Fields, r), access, nil
	return d
}

// seen are the descriptions of the fields that the reader sees.
func seen(fields []readmodel.Field, described []readmodel.FieldDescription, r query.Reader) []readmodel.FieldDescription {
	var kept []readmodel.FieldDescription
	for i := range fields {
		f, d := &fields[i], described[i]
		if r.Sees(f) == query.Hidden {
			continue
		}
		if f.Child != nil {
			d.Fields = seen(f.Child.Fields, d.Fields, r)
		}
		kept = append(kept, d)
	}
	return kept
}

// listed is a model as it is answered: without the reports' key.
type listed struct {
	readmodel.Description
	Reports *struct{} `json:"reports,omitempty"`
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
