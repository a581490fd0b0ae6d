package readmodel

// Index returns the keys of the index that an access pattern is: the scope's
// field, the equal fields, the sort field, and _id in the sort's direction.
// Fields are stored keys (see Key).
func (m *Model) Index(a Access) []SortKey {
	var keys []SortKey
	if f := m.ScopeField(a.Scope); f != "" {
		keys = append(keys, SortKey{Field: m.Key(f)})
	}
	for _, f := range a.Equal {
		keys = append(keys, SortKey{Field: m.Key(f)})
	}
	keys = append(keys, SortKey{Field: m.Key(a.Sort.Field), Desc: a.Sort.Desc})
	return append(keys, SortKey{Field: "_id", Desc: a.Sort.Desc})
}

// ScopeField is the field of a scope, or "" for "none" and an unknown one.
func (m *Model) ScopeField(scope string) string {
	for _, s := range m.Scope {
		if s.Name == scope {
			return s.Field
		}
	}
	return ""
}

// Report returns the report of that name, or nil.
func (m *Model) Report(name string) *Report {
	for i := range m.Reports {
		if m.Reports[i].Name == name {
			return &m.Reports[i]
		}
	}
	return nil
}

// String returns the sort key as a file and a request write it: -payDue.
func (k SortKey) String() string {
	if k.Desc {
		return "-" + k.Field
	}
	return k.Field
}
