package httpapi

import (
	"strings"

	"prejoin/pkg/export"
	"prejoin/pkg/export/xlsx"
)

// format is one kind of export.
type format struct {
	name    string
	table   bool // labels are for tables; JSON keeps names and codes
	encoder func(*export.Layout) (export.Encoder, error)
}

var formats = []format{
	{"ndjson", false, func(l *export.Layout) (export.Encoder, error) { return export.NewNDJSON(l, false), nil }},
	{"json", false, func(l *export.Layout) (export.Encoder, error) { return export.NewJSON(l), nil }},
	{"csv", true, func(l *export.Layout) (export.Encoder, error) { return export.NewCSV(l, export.CSVConfig{}), nil }},
	{"xlsx", true, func(l *export.Layout) (export.Encoder, error) { return xlsx.New(l, xlsx.Config{}) }},
}

func formatNames() string {
	names := make([]string, len(formats))
	for i, f := range formats {
		names[i] = "export." + f.name
	}
	return strings.Join(names, ", ")
}
