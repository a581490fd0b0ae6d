package query

import (
	"fmt"
	"strings"

	"go.mongodb.org/mongo-driver/bson"

	"prejoin/pkg/readmodel"
)

// ScopeNone is the scope of an access pattern over all rows, for operators.
const ScopeNone = "none"

// maxScans is how many index scans MongoDB merges in order; over 200 it sorts
// the whole result in memory instead (internalQueryMaxScansToExplode).
const maxScans = 200

// asked is what a request needs an access pattern for.
type asked struct {
	model      *readmodel.Model
	reader     Reader
	conditions []condition
	sort       *readmodel.SortKey // nil: the pattern's own
}

// choose is the narrowest access pattern that serves the request exactly: of
// those that fit, the one with most equality fields, then the fewest scans.
func (q asked) choose() (*readmodel.Access, error) {
	var best *readmodel.Access
	for i := range q.model.Access {
		a := &q.model.Access[i]
		if q.reader.mayUse(a) && len(q.gaps(a)) == 0 && (best == nil || q.narrower(a, best)) {
			best = a
		}
	}
	if best == nil {
		return nil, q.nothingFits()
	}
	if n := q.scans(best); n > maxScans {
		return nil, tooWide("The request needs %d index scans, but at most %d are merged in order; name fewer values in in: lists%s.", n, maxScans, q.fewerScopes(best))
	}
	return best, nil
}

func (q asked) narrower(a, b *readmodel.Access) bool {
	if len(a.Equal) != len(b.Equal) {
		return len(a.Equal) > len(b.Equal)
	}
	return q.scans(a) < q.scans(b)
}

// gaps are the phrases that say what the request would need to be served by a.
func (q asked) gaps(a *readmodel.Access) []string {
	var gaps []string
	equal := map[string]bool{}
	if f := scopeField(q.model, a.Scope); f != nil {
		equal[f.Name] = true
		if q.condition(f.Name) == nil && len(q.reader.Scopes[a.Scope]) == 0 {
			gaps = append(gaps, "add "+f.Name+"=…")
		}
	}
	for _, name := range a.Equal {
		equal[name] = true
		if q.condition(name) == nil {
			gaps = append(gaps, "add "+name+"=…")
		}
	}
	for _, c := range q.conditions {
		gaps = append(gaps, q.conditionGap(a, c, equal[c.field.Name])...)
	}
	if q.sort != nil && q.sort.Field != a.Sort.Field {
		gaps = append(gaps, "sort by "+a.Sort.Field+" in either direction")
	}
	return gaps
}

func (q asked) conditionGap(a *readmodel.Access, c condition, equal bool) []string {
	switch name := c.field.Name; {
	case equal && c.ranged():
		return []string{"give " + name + " as one value or in: list"}
	case equal || a.Range == name && (c.ranged() || len(c.values) == 1):
		return nil
	case a.Range == name:
		return []string{"give " + name + " as one value or a range"}
	default:
		return []string{"leave out " + name}
	}
}

func (q asked) condition(name string) *condition {
	for i := range q.conditions {
		if q.conditions[i].field.Name == name {
			return &q.conditions[i]
		}
	}
	return nil
}

// scans is the number of index scans that the lists multiply to.
func (q asked) scans(a *readmodel.Access) int {
	n := 1
	if f := scopeField(q.model, a.Scope); f != nil {
		if c := q.condition(f.Name); c != nil {
			n = max(1, len(c.values))
		} else {
			n = max(1, len(q.reader.Scopes[a.Scope]))
		}
	}
	for _, name := range a.Equal {
		if c := q.condition(name); c != nil {
			n *= max(1, len(c.values))
		}
	}
	return n
}

func (q asked) fewerScopes(a *readmodel.Access) string {
	if f := scopeField(q.model, a.Scope); f != nil && q.condition(f.Name) == nil {
		return fmt.Sprintf(" or some of the key's %ss with %s=in:…", a.Scope, f.Name)
	}
	return ""
}

// nothingFits names the pattern with the fewest gaps and what would close them.
func (q asked) nothingFits() error {
	var nearest *readmodel.Access
	var gaps []string
	for i := range q.model.Access {
		a := &q.model.Access[i]
		if g := q.gaps(a); q.reader.mayUse(a) && (nearest == nil || len(g) < len(gaps)) {
			nearest, gaps = a, g
		}
	}
	if nearest == nil {
		return noPattern("The model %s has no access pattern for this key's scope; add one to its access section.", q.model.Name)
	}
	return noPattern("No access pattern of %s serves this request; the nearest is %s: %s.", q.model.Name, Describe(q.model, nearest), strings.Join(gaps, ", "))
}

// Describe names an access pattern by its parameters, such as
// "merchantId, status, payDue=from..to, sort=-payDue".
func Describe(m *readmodel.Model, a *readmodel.Access) string {
	var parts []string
	if f := scopeField(m, a.Scope); f != nil {
		parts = append(parts, f.Name)
	}
	parts = append(parts, a.Equal...)
	if a.Range != "" {
		parts = append(parts, a.Range+"=from..to")
	}
	return "(" + strings.Join(append(parts, "sort="+a.Sort.String()), ", ") + ")"
}

// order is a sort document: the field, then _id in the same direction.
func order(m *readmodel.Model, k readmodel.SortKey) bson.D {
	d := direction(k.Desc)
	return bson.D{{Key: m.Key(k.Field), Value: d}, {Key: "_id", Value: d}}
}

func direction(desc bool) int32 {
	if desc {
		return -1
	}
	return 1
}
