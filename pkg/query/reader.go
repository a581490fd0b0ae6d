package query

import (
	"slices"
	"sort"

	"go.mongodb.org/mongo-driver/bson"

	"prejoin/pkg/readmodel"
)

// Reader is who asks, reduced to what a query must know. The zero Reader sees
// nothing.
type Reader struct {
	Key    string           // id of the API key; page tokens are bound to it
	All    bool             // an operator: every row
	Scopes map[string][]any // scope name → values, int64 or string; a row must be inside each
	Role   string           // "reader", or "full" for keys that may see personal fields
}

// The roles that a key can have.
const (
	RoleReader = "reader"
	RoleFull   = "full"
)

// View is how much of a field a reader sees.
type View int

// The views, from nothing to all.
const (
	Hidden View = iota
	Masked
	Full
)

// Sees decides how much of a field the reader sees. The model's roles decide;
// where they are silent, a personal field is masked for everyone but RoleFull.
// An array is hidden where all its parts are.
func (r Reader) Sees(f *readmodel.Field) View {
	if f.Child != nil && !slices.ContainsFunc(f.Child.Fields, func(c readmodel.Field) bool { return r.Sees(&c) != Hidden }) {
		return Hidden
	}
	switch f.Roles[r.Role] {
	case "full":
		return Full
	case "masked":
		return Masked
	case "hidden":
		return Hidden
	}
	if f.PII != nil && r.Role != RoleFull {
		return Masked
	}
	return Full
}

// CanRead reports whether the reader can see any row of the model.
func (r Reader) CanRead(m *readmodel.Model) bool {
	_, err := scopeClauses(m, r)
	return err == nil
}

// scopeClauses are the clauses that limit a filter to the reader's rows: one a
// scope, in name order, so that equal readers have equal filters.
func scopeClauses(m *readmodel.Model, r Reader) ([]bson.D, error) {
	if r.All {
		return nil, nil
	}
	if len(r.Scopes) == 0 {
		return nil, outOfScope("This key has no scope, so it can read nothing; make one with --all or --scope.")
	}
	var clauses []bson.D
	for _, name := range sortedKeys(r.Scopes) {
		f := scopeField(m, name)
		if f == nil {
			return nil, outOfScope("This key is limited by %s, which the model %s does not have; use a key that is limited by %s.", name, m.Name, scopeNames(m))
		}
		values := allowed(f, r.Scopes[name])
		if len(values) == 0 {
			return nil, outOfScope("This key's values of the scope %s are not of the type of %s, which is %s, so it can read nothing; make another key.", name, f.Name, f.Type)
		}
		clauses = append(clauses, bson.D{{Key: m.Key(f.Name), Value: oneOf(values)}})
	}
	return clauses, nil
}

// allowed keeps the values that the field's type can hold; the others match no row.
func allowed(f *readmodel.Field, values []any) []any {
	var kept []any
	for _, v := range values {
		_, isInt := v.(int64)
		_, isText := v.(string)
		if f.Type == readmodel.Int64 && isInt || f.Type != readmodel.Int64 && isText {
			kept = append(kept, v)
		}
	}
	return kept
}

func oneOf(values []any) any {
	if len(values) == 1 {
		return values[0]
	}
	return bson.D{{Key: "$in", Value: bson.A(values)}}
}

// scopeField is the field of a scope; nil for "none" and an unknown one.
func scopeField(m *readmodel.Model, name string) *readmodel.Field {
	return m.Field(m.ScopeField(name))
}

func scopeNames(m *readmodel.Model) string {
	names := make([]string, len(m.Scope))
	for i, s := range m.Scope {
		names[i] = s.Name
	}
	return joinOr(names)
}

// checkScope refuses a filter that names a value outside the reader's scope,
// known or not: the answer is the same for a foreign and an absent merchant. A
// filter on a scope that the key does not have is refused too, unless a pattern
// within its own scope holds the field: any other index would be read over
// foreign rows, and the time that takes tells how many there are.
func checkScope(m *readmodel.Model, r Reader, conditions []condition) error {
	if r.All {
		return nil
	}
	for _, s := range m.Scope {
		for _, c := range conditions {
			if c.field.Name != s.Field {
				continue
			}
			if len(r.Scopes[s.Name]) == 0 && !compares(m, r, s.Field) {
				return outOfScope("This key is not limited by %s, so it cannot ask by %s; leave %s out.", s.Name, s.Field, s.Field)
			}
			if v, foreign := foreign(r.Scopes[s.Name], c.values); foreign {
				return outOfScope("This key is not allowed to read %s %v; ask only for those in its scope.", s.Field, v)
			}
		}
	}
	return nil
}

// compares reports that some pattern within the reader's scope compares the field.
func compares(m *readmodel.Model, r Reader, field string) bool {
	return slices.ContainsFunc(m.Access, func(a readmodel.Access) bool {
		return r.mayUse(&a) && slices.Contains(a.Equal, field)
	})
}

// foreign is the first value that is not allowed, where anything limits them.
func foreign(allowed, values []any) (any, bool) {
	for _, v := range values {
		if len(allowed) > 0 && !slices.Contains(allowed, v) {
			return v, true
		}
	}
	return nil, false
}

// mayUse: an access pattern is for those who hold its scope, and for operators.
func (r Reader) mayUse(a *readmodel.Access) bool {
	return r.All || len(r.Scopes[a.Scope]) > 0
}

// Uses reports whether the reader may ask by the pattern of that scope.
func (r Reader) Uses(scope string) bool { return r.mayUse(&readmodel.Access{Scope: scope}) }

func sortedKeys(m map[string][]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
