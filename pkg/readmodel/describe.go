package readmodel

// Description is what a client may know of a model: GET /v1 answers it. It
// holds no SQL, tables or routes.
type Description struct {
	Name    string              `json:"name"`
	Version int                 `json:"version"`
	ID      string              `json:"id"`
	Scopes  []ScopeDescription  `json:"scopes"`
	Fields  []FieldDescription  `json:"fields"`
	Access  []AccessDescription `json:"access"`
	Reports []ReportDescription `json:"reports"`
}

// ScopeDescription names a scope and its field.
type ScopeDescription struct {
	Name  string `json:"name"`
	Field string `json:"field"`
}

// LabelDescription is a label in both languages.
type LabelDescription struct {
	EN string `json:"en"`
	KO string `json:"ko"`
}

// FieldDescription is one field. Fields holds an array's parts.
type FieldDescription struct {
	Name     string             `json:"name"`
	Type     Type               `json:"type"`
	Scale    *int               `json:"scale,omitempty"` // decimals only
	Format   string             `json:"format,omitempty"`
	Label    LabelDescription   `json:"label"`
	Total    string             `json:"total,omitempty"`
	Values   []ValueDescription `json:"values,omitempty"`
	Personal string             `json:"personal,omitempty"` // the kind of personal data
	Roles    map[string]string  `json:"roles,omitempty"`
	Fields   []FieldDescription `json:"fields,omitempty"`
}

// ValueDescription is one value of an enum.
type ValueDescription struct {
	Value string           `json:"value"`
	Label LabelDescription `json:"label"`
}

// AccessDescription is one question that the model answers.
type AccessDescription struct {
	Scope string   `json:"scope"`
	Equal []string `json:"equal,omitempty"`
	Range string   `json:"range,omitempty"`
	Sort  string   `json:"sort"`
}

// ReportDescription is one report.
type ReportDescription struct {
	Name    string            `json:"name"`
	Label   LabelDescription  `json:"label"`
	Columns []string          `json:"columns"`
	Lines   string            `json:"lines"`
	Filters map[string]string `json:"filters,omitempty"`
	Sort    string            `json:"sort,omitempty"`
	Roles   []string          `json:"roles,omitempty"`
}

// Describe returns the model without what only the daemons need. The result
// shares nothing with the model that a caller could change by mistake but maps
// and lists of names: read it, do not write to it.
func (m *Model) Describe() Description {
	d := Description{Name: m.Name, Version: m.Version, ID: m.ID, Fields: describeFields(m.Fields), Scopes: []ScopeDescription{}, Access: []AccessDescription{}, Reports: []ReportDescription{}}
	for _, s := range m.Scope {
		d.Scopes = append(d.Scopes, ScopeDescription(s))
	}
	for _, a := range m.Access {
		d.Access = append(d.Access, AccessDescription{Scope: a.Scope, Equal: a.Equal, Range: a.Range, Sort: a.Sort.String()})
	}
	for _, r := range m.Reports {
		d.Reports = append(d.Reports, ReportDescription{Name: r.Name, Label: LabelDescription(r.Label), Columns: r.Columns, Lines: r.Lines, Filters: r.Filters, Sort: r.Sort, Roles: r.Roles})
	}
	return d
}

func describeFields(fields []Field) []FieldDescription {
	out := make([]FieldDescription, len(fields))
	for i := range fields {
		out[i] = describeField(&fields[i])
	}
	return out
}

func describeField(f *Field) FieldDescription {
	d := FieldDescription{Name: f.Name, Type: f.Type, Format: f.Format, Label: LabelDescription(f.Label), Total: f.Total, Roles: f.Roles}
	if f.Type == Decimal {
		d.Scale = &f.Scale
	}
	for _, v := range f.Values {
		d.Values = append(d.Values, ValueDescription{Value: v.Value, Label: LabelDescription(v.Label)})
	}
	if f.PII != nil {
		d.Personal = f.PII.Kind
	}
	if f.Child != nil {
		d.Fields = describeFields(f.Child.Fields)
	}
	return d
}
