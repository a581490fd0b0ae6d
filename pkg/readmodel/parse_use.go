package readmodel

import "strings"

var (
	routeKeys  = []string{"table", "id", "lookup", "key", "fanout"}
	accessKeys = []string{"scope", "equal", "range", "sort"}
	reportKeys = []string{"name", "label", "columns", "lines", "filters", "sort", "roles"}
	linesModes = []string{"none", "rows", "json"}
)

func (s *source) routes(o object) []Route {
	o.need("routes", "routes: [{table: public.settlement, id: id}]")
	var out []Route
	s.entries(o, "routes", "route", maxRoutes, routeKeys, func(e object) {
		out = append(out, Route{
			Table:  e.text("table", "table: public.settlement"),
			ID:     e.optional("id"),
			Lookup: e.optional("lookup"),
			Key:    e.optional("key"),
			Fanout: e.flag("fanout"),
		})
	})
	return out
}

func (s *source) accesses(o object) []Access {
	o.need("access", "access: [{scope: merchant, range: payDue, sort: -payDue}]")
	var out []Access
	s.entries(o, "access", "access pattern", maxAccess, accessKeys, func(e object) {
		out = append(out, Access{
			Scope: e.text("scope", "scope: merchant, or scope: none for operators"),
			Equal: e.texts("equal", maxEqual),
			Range: e.optional("range"),
			Sort:  sortKey(e.text("sort", "sort: -payDue")),
		})
	})
	return out
}

// sortKey reads "payDue" or, descending, "-payDue".
func sortKey(text string) SortKey {
	field, desc := strings.CutPrefix(text, "-")
	return SortKey{Field: field, Desc: desc}
}

func (s *source) reports(o object) []Report {
	var out []Report
	s.entries(o, "reports", "report", maxReports, reportKeys, func(e object) {
		r := Report{
			Name:    e.text("name", "name: settlements"),
			Label:   s.label(e),
			Columns: e.texts("columns", maxColumns),
			Lines:   "none",
			Filters: s.filters(e),
			Sort:    e.optional("sort"),
			Roles:   e.texts("roles", maxRoles),
		}
		e.need("columns", "columns: [settlementId, amount]")
		if e.has("lines") {
			r.Lines = s.oneOf(e, "lines", "lines: rows", linesModes)
		}
		out = append(out, r)
	})
	return out
}

func (s *source) filters(e object) map[string]string {
	n := e.values["filters"]
	if n == nil {
		return nil
	}
	o := s.object(n, join(e.path, "filters"), "filters of "+e.what, nil)
	out := map[string]string{}
	for _, field := range o.order {
		out[field] = o.text(field, "")
	}
	return out
}
