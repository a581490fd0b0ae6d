package httpapi

import (
	"strings"

	"prejoin/pkg/export"
	"prejoin/pkg/export/xlsx"
)

// format is one kind of export.
type format struct {
	name        string // the encoder's extension too
	contentType string
	table       bool // labels are for tables; JSON keeps names and codes
	// encoder makes one; end asks for a last line that says that the file is
	// whole, which JSON and Excel say by their form.
	encoder func(l *export.Layout, end bool) (export.Encoder, error)
}

var formats = []format{
	{"ndjson", "application/x-ndjson; charset=utf-8", false, func(l *export.Layout, end bool) (export.Encoder, error) { return export.NewNDJSON(l, end), nil }},
	{"json", "application/json", false, func(l *export.Layout, _ bool) (export.Encoder, error) { return export.NewJSON(l), nil }},
	{"csv", "text/csv; charset=utf-8; header=present", true, func(l *export.Layout, end bool) (export.Encoder, error) {
		return export.NewCSV(l, export.CSVConfig{EndLine: end}), nil
	}},
	{"xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", true, func(l *export.Layout, _ bool) (export.Encoder, error) { return xlsx.New(l, xlsx.Config{}) }},
}

func formatNames() string {
	names := make([]string, len(formats))
	for i, f := range formats {
		names[i] = "export." + f.name
	}
	return strings.Join(names, ", ")
}
