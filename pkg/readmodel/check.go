package readmodel

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// checker looks across a decoded model: names resolve, types make sense, SQL
// has its placeholders. It passes over values that the reader has reported
// already (they are empty).
type checker struct {
	*source
	m *Model
}

func (c *checker) run() {
	c.names()
	c.fields()
	c.id()
	c.scopes()
	c.statements()
	c.routes()
	c.statics()
	c.access()
	c.reports()
}

var (
	modelName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,47}$`)
	wordName  = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)
	fieldName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]{0,63}$`)
	column    = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_$]{0,62}$`)
	tableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_$]{0,62}\.[A-Za-z_][A-Za-z0-9_$]{0,62}$`)
)

// Reserved are the request's own parameters, some kept for what is to come: a
// filter of that name could not be told from them.
var Reserved = []string{"sort", "fields", "limit", "page", "report", "columns", "tz", "lang", "reason", "end", "total", "q", "by", "as_of_at_least"}

// taken are path segments under /v1 that are no model.
var taken = []string{"exports"}

func (c *checker) names() {
	c.matches("model", c.m.Name, modelName, "lower-case letters, digits and _, starting with a letter, at most 48")
	if contains(taken, c.m.Name) {
		c.fault("model", "the model name %q is taken by the API; choose another", c.m.Name)
	}
}

// matches reports a name that breaks its pattern.
func (c *checker) matches(path, name string, pattern *regexp.Regexp, form string) bool {
	if name == "" || pattern.MatchString(name) {
		return name != ""
	}
	c.fault(path, "%q is no valid name here; write %s", clip(name), form)
	return false
}

// unique reports a name that stands in seen already; case does not tell two
// names apart for a reader.
func (c *checker) unique(path, name, what string, seen map[string]bool) {
	key := strings.ToLower(name)
	if name != "" && seen[key] {
		c.fault(path, "the %s %q is defined twice; remove or rename one", what, name)
	}
	seen[key] = true
}

// empty tells whether a list is written, well formed and without entries.
func (c *checker) empty(path string, n int) bool {
	_, written := c.at[path]
	return written && n == 0 && !c.reported(path)
}

// known returns the field, or reports that there is none of that name.
func (c *checker) known(path, name string) *Field {
	if name == "" || len(c.m.Fields) == 0 {
		return nil
	}
	f := c.m.Field(name)
	if f == nil {
		c.fault(path, "no field %q; %s", clip(name), instead(name, c.fieldNames()))
	}
	return f
}

func (c *checker) fieldNames() []string {
	var out []string
	for _, f := range c.m.Fields {
		if f.Name != "" {
			out = append(out, f.Name)
		}
	}
	return out
}

// printable checks a text for people: short, without control characters.
func (s *source) printable(path, text string) {
	if utf8.RuneCountInString(text) > 100 {
		s.fault(path, "longer than 100 characters; a label is a column's header")
	}
	if strings.ContainsFunc(text, unicode.IsControl) {
		s.fault(path, "holds a line break or control character; write it on one line")
	}
}

// clip cuts what a message repeats of the file.
func clip(text string) string {
	if utf8.RuneCountInString(text) <= 60 {
		return text
	}
	return string([]rune(text)[:60]) + "…"
}
