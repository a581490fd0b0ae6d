package cdc

import (
	"bytes"
	"slices"
	"strconv"
	"time"
)

// columnType is what a schema says of a column beyond its JSON form.
type columnType struct {
	name  string // the semantic type, such as org.apache.kafka.connect.data.Decimal
	scale int
}

// convert turns the text of a JSON string or number into PostgreSQL's text form.
func (t columnType) convert(text string) (string, error) {
	switch t.name {
	case "org.apache.kafka.connect.data.Decimal":
		return decimalText(text, t.scale)
	case "io.debezium.time.Date", "org.apache.kafka.connect.data.Date":
		return dateText(text)
	case "io.debezium.time.Timestamp", "io.debezium.time.MicroTimestamp", "io.debezium.time.NanoTimestamp",
		"io.debezium.time.Time", "io.debezium.time.MicroTime", "io.debezium.time.NanoTime", "io.debezium.time.MicroDuration",
		"org.apache.kafka.connect.data.Timestamp", "org.apache.kafka.connect.data.Time":
		return "", refuse("expected a type that a route can use, not %s: choose another column", t.name)
	}
	return text, nil
}

func dateText(text string) (string, error) {
	days, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return "", refuse("expected days since 1970-01-01")
	}
	return time.Unix(0, 0).UTC().AddDate(0, 0, int(days)).Format("2006-01-02"), nil
}

// readTypes finds the types of the wanted columns in {"type":"struct","fields":[{"fields":[…],"field":"after"}, …]}.
func readTypes(schema []byte, image string, wanted []string) (map[string]columnType, error) {
	if isNull(schema) {
		return nil, nil
	}
	fields := memberOf(schema, "fields")
	if image != "" {
		fields = fieldsOf(fields, image)
	}
	if fields == nil {
		return nil, refuse("expected the fields of %s in the schema", image)
	}
	types := make(map[string]columnType, len(wanted))
	s := scanner{b: fields}
	s.open('[')
	for first := true; s.more(']', first); first = false {
		column := s.raw()
		if i := slices.IndexFunc(wanted, func(name string) bool { return memberIs(column, "field", name) }); i >= 0 {
			types[wanted[i]] = typeOf(column)
		}
	}
	return types, s.err
}

func typeOf(column []byte) columnType {
	t := columnType{name: textMember(column, "name")}
	if parameters := memberOf(column, "parameters"); parameters != nil {
		t.scale, _ = strconv.Atoi(textMember(parameters, "scale"))
	}
	return t
}

// fieldsOf finds the fields of the struct named image in an array of fields.
func fieldsOf(fields []byte, image string) []byte {
	if fields == nil {
		return nil
	}
	s := scanner{b: fields}
	s.open('[')
	for first := true; s.more(']', first); first = false {
		if field := s.raw(); memberIs(field, "field", image) {
			return memberOf(field, "fields")
		}
	}
	return nil
}

// memberOf returns a member's raw value, nil if raw is no object or has none.
func memberOf(raw []byte, name string) []byte {
	s := scanner{b: raw}
	s.open('{')
	for first := true; s.more('}', first); first = false {
		found := string(s.name()) == name
		if value := s.raw(); found {
			return value
		}
	}
	return nil
}

// memberIs compares a member's text without allocating.
func memberIs(raw []byte, name, want string) bool {
	value := memberOf(raw, name)
	if len(value) == len(want)+2 && value[0] == '"' && string(value[1:len(value)-1]) == want {
		return true
	}
	return bytes.IndexByte(value, '\\') >= 0 && textMember(raw, name) == want
}

func textMember(raw []byte, name string) string {
	text, err := readText(memberOf(raw, name), name)
	if err != nil {
		return ""
	}
	return text
}
