package cdc

import (
	"fmt"
	"slices"
)

// Unavailable is what Debezium writes for a TOASTed value that did not change and was not sent.
const Unavailable = "__debezium_unavailable_value"

// readColumns reads the wanted columns of one row image; nil where the message has none.
func readColumns(raw, schema []byte, image string, wanted []string) (Columns, error) {
	if isNull(raw) {
		return nil, nil
	}
	types, err := readTypes(schema, image, wanted)
	if err != nil {
		return nil, err
	}
	columns := make(Columns, len(wanted))
	s := scanner{b: raw}
	s.open('{')
	for first := true; s.more('}', first); first = false {
		name := s.name()
		i := slices.Index(wanted, string(name))
		if i < 0 {
			s.skip()
			continue
		}
		v, present, err := readValue(s.raw(), types[wanted[i]])
		if err != nil {
			return nil, fmt.Errorf("column %s of %s: %w", wanted[i], image, err)
		}
		if present {
			columns[wanted[i]] = v
		}
	}
	return columns, s.err
}

// readValue turns a JSON value into PostgreSQL's text form. present is false for an unchanged TOASTed value.
func readValue(raw []byte, t columnType) (v Value, present bool, err error) {
	if len(raw) == 0 {
		return v, false, nil // the scanner has the error
	}
	switch raw[0] {
	case 'n':
		return Value{Null: true}, true, nil
	case 't', 'f':
		return Value{Text: string(raw[:1])}, true, nil
	case '{':
		v.Text, err = variableScale(raw)
		return v, true, err
	case '[':
		return v, false, refuse("expected a single value, not an array")
	case '"':
		v.Text, err = unquote(raw)
		if err != nil || v.Text == Unavailable {
			return Value{}, false, err
		}
	default:
		v.Text = string(raw)
	}
	v.Text, err = t.convert(v.Text)
	return v, true, err
}
