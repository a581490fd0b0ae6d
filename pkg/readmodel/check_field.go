package readmodel

import "slices"

func (c *checker) fields() {
	seen := map[string]bool{}
	for i := range c.m.Fields {
		path, f := item("fields", i), &c.m.Fields[i]
		c.fieldName(path, f, seen)
		if contains(Reserved, f.Name) {
			c.fault(namePath(path, f), "the field name %q is a request parameter; call it for example %q", f.Name, f.Name+"Value")
		}
		if f.Child == nil {
			c.field(path, f)
		}
	}
	for i := range c.m.Children {
		c.child(item("children", i), &c.m.Children[i])
	}
}

func namePath(path string, f *Field) string {
	if f.Child != nil {
		return path
	}
	return path + ".name"
}

func (c *checker) fieldName(path string, f *Field, seen map[string]bool) {
	at := namePath(path, f)
	if c.matches(at, f.Name, fieldName, "letters, digits and _, starting with a letter, at most 64") {
		c.unique(at, f.Name, "field", seen)
	}
}

func (c *checker) child(path string, ch *Child) {
	c.matches(path+".parent", ch.Parent, column, "the name of one column of the query")
	seen := map[string]bool{}
	for j := range ch.Fields {
		at, f := item(path+".fields", j), &ch.Fields[j]
		c.fieldName(at, f, seen)
		c.field(at, f)
		if f.Name != "" && f.Name == ch.Parent {
			c.fault(at+".name", "%q is the parent column, which is not embedded; remove the field", f.Name)
		}
	}
	if c.empty(path+".fields", len(ch.Fields)) {
		c.fault(path+".fields", "child %q has no fields; write one a column of its query", ch.Field)
	}
}

func (c *checker) field(path string, f *Field) {
	if f.Type == "" {
		return
	}
	c.enum(path, f)
	c.format(path, f)
	if f.Total != "" && f.Type != Decimal && f.Type != Int64 {
		c.fault(path+".total", "field %q is %s; only int64 and decimal have a sum, remove total", f.Name, f.Type)
	}
	c.personal(path, f)
}

func (c *checker) enum(path string, f *Field) {
	_, written := c.at[path+".values"]
	switch {
	case f.Type == Enum && !written:
		c.fault(path, "field %q is an enum without values; write values: {PAID: {en: Paid, ko: 지급완료}}", f.Name)
	case f.Type == Enum && len(f.Values) == 0:
		c.fault(path+".values", "field %q is an enum without values; write values: {PAID: {en: Paid, ko: 지급완료}}", f.Name)
	case f.Type != Enum && written:
		c.fault(path+".values", "field %q is %s and has values; write type: enum or remove them", f.Name, f.Type)
	}
	for _, v := range f.Values {
		c.enumValue(path+".values."+v.Value, v.Value)
	}
}

// enumValue: a comma or a colon would end the value in a filter (in:A,B), and
// two dots make a range.
func (c *checker) enumValue(path, value string) {
	if value == "" || len(value) > 64 || !slices.Equal([]byte(value), printableWord(value)) {
		c.fault(path, "the value %q cannot be asked for; write up to 64 letters, digits, _ and -, or use type: text", clip(value))
	}
}

func printableWord(value string) []byte {
	var out []byte
	for _, b := range []byte(value) {
		if b == '_' || b == '-' || b >= '0' && b <= '9' || b >= 'A' && b <= 'Z' || b >= 'a' && b <= 'z' {
			out = append(out, b)
		}
	}
	return out
}

func (c *checker) format(path string, f *Field) {
	if f.Format == "" {
		return
	}
	c.printable(path+".format", f.Format)
	if !slices.Contains([]Type{Int64, Decimal, Date, Timestamp}, f.Type) {
		c.fault(path+".format", "field %q is %s; a format is for numbers and dates, remove it", f.Name, f.Type)
	}
}

func (c *checker) personal(path string, f *Field) {
	if f.PII != nil {
		c.matches(path+".pii.kind", f.PII.Kind, wordName, "a lower-case word such as account, name or phone")
		if f.Type != Text {
			c.fault(path+".pii", "field %q is %s; a mask works on text, cast the column to text", f.Name, f.Type)
		}
	}
	for role, view := range f.Roles {
		at := path + ".roles." + role
		c.matches(at, role, wordName, "a role in lower case such as reader")
		if view == "masked" && f.PII == nil {
			c.fault(at, "field %q has no mask; add pii: {kind: account, mask: tail} or write hidden", f.Name)
		}
	}
}

// closed tells whether some role sees the field masked or not at all.
func closed(f *Field) bool {
	if f.PII != nil {
		return true
	}
	for _, view := range f.Roles {
		if view != "full" {
			return true
		}
	}
	return false
}

func (c *checker) id() {
	f := c.known("id", c.m.ID)
	if f == nil || f.Type == "" {
		return
	}
	if f.Type != Int64 && f.Type != Text {
		c.fault("id", "the id %q is %s; an id is int64 or text", f.Name, f.Type)
	}
	if c.m.Fields[0].Name != c.m.ID {
		c.fault("id", "the id %q is not the first field; move it to the top of fields, because MongoDB stores _id first", f.Name)
	}
	if closed(f) || f.Total != "" {
		c.fault("id", "the id %q has pii, roles or a total; an id stands in every answer and path, remove them", f.Name)
	}
}

func (c *checker) scopes() {
	if c.empty("scope", len(c.m.Scope)) {
		c.fault("scope", "no scope; write for example scope: {merchant: merchantId}, so that a key can be limited")
	}
	seen := map[string]bool{}
	for _, sc := range c.m.Scope {
		path := "scope." + sc.Name
		c.matches(path, sc.Name, wordName, "a lower-case word such as merchant")
		if sc.Name == "none" {
			c.fault(path, "the scope name none means \"operators only\" in access patterns; choose another")
		}
		c.unique(path, sc.Field, "scope field", seen)
		c.scopeField(path, c.known(path, sc.Field))
	}
}

func (c *checker) scopeField(path string, f *Field) {
	if f == nil || f.Type == "" {
		return
	}
	if f.Type != Int64 && f.Type != Text {
		c.fault(path, "the scope field %q is %s; a scope is int64 or text", f.Name, f.Type)
	}
	if closed(f) {
		c.fault(path, "the scope field %q has pii or roles; a principal must know its own scope, remove them", f.Name)
	}
}
