package query

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"prejoin/pkg/readmodel"
)

// Limits of a page.
const (
	DefaultLimit = 50
	MaxLimit     = 1000
)

// The parameters that a page, an export and a get understand. All are among
// readmodel.Reserved, so that no field can have their names.
var (
	pageParameters   = []string{"sort", "fields", "limit", "page", "tz", "lang"}
	exportParameters = []string{"sort", "fields", "tz", "lang", "end"}
	getParameters    = []string{"fields", "tz", "lang"}
)

// parser holds one request while it is read.
type parser struct {
	model   *readmodel.Model
	reader  Reader
	options Options
	values  url.Values
	known   []string // parameters that this kind of request takes
	request *Request
}

// once refuses repeated parameters: which of two would count is a guess that
// proxies and servers make differently.
func (p *parser) once() error {
	for name, values := range p.values {
		if len(values) > 1 {
			return badParameter("The parameter %s is given %d times; give it once (a list is %s=in:A,B).", short(name), len(values), short(name))
		}
	}
	return nil
}

// filterNames are the parameters left over as filters, in the model's order. A
// field that is hidden from the reader is as unknown as one that does not exist.
func (p *parser) filterNames(allowed bool) ([]string, error) {
	var names []string
	for _, f := range p.visible() {
		if p.values.Has(f.Name) && allowed {
			names = append(names, f.Name)
		}
	}
	for name := range p.values {
		if slices.Contains(p.known, name) || slices.Contains(names, name) {
			continue
		}
		return nil, unknownParameter("There is no filter or parameter %s%s", short(name), didYouMean(name, p.askable(allowed)))
	}
	return names, nil
}

// askable are the names that an unknown one may have meant.
func (p *parser) askable(filters bool) []string {
	if !filters {
		return p.known
	}
	var names []string
	for _, f := range p.visible() {
		if filterable(p.model, f.Name) {
			names = append(names, f.Name)
		}
	}
	return append(names, p.known...)
}

// filterable: some access pattern uses the field.
func filterable(m *readmodel.Model, name string) bool {
	for i := range m.Access {
		a := &m.Access[i]
		f := scopeField(m, a.Scope)
		if f != nil && f.Name == name || a.Range == name || slices.Contains(a.Equal, name) {
			return true
		}
	}
	return false
}

func rangeable(m *readmodel.Model, name string) bool {
	return slices.ContainsFunc(m.Access, func(a readmodel.Access) bool { return a.Range == name })
}

func (p *parser) zone() error {
	p.request.Zone = p.options.Zone
	if p.request.Zone == nil {
		p.request.Zone = time.UTC
	}
	if !p.values.Has("tz") {
		return nil
	}
	var err error
	p.request.Zone, err = Zone(p.values.Get("tz"))
	return err
}

func (p *parser) lang() error {
	p.request.Lang = p.values.Get("lang")
	if p.values.Has("lang") && p.request.Lang != "en" && p.request.Lang != "ko" {
		return badParameter("lang=%s is not a language; give en or ko.", short(p.request.Lang))
	}
	return nil
}

// end asks for a mark at the end of an export, whatever its format.
func (p *parser) end() error {
	if !p.options.Export || !p.values.Has("end") {
		return nil
	}
	if p.values.Get("end") != "1" {
		return badParameter("end=%s is not known; give end=1 for a last line that says how many rows came, or leave it out.", short(p.values.Get("end")))
	}
	p.request.End = true
	return nil
}

func (p *parser) limit() error {
	p.request.Limit = DefaultLimit
	if !p.values.Has("limit") {
		return nil
	}
	n, err := strconv.Atoi(p.values.Get("limit"))
	if err != nil || n < 1 || n > MaxLimit {
		return badParameter("limit=%s is not a number from 1 to %d; for more rows take an export.", short(p.values.Get("limit")), MaxLimit)
	}
	p.request.Limit = n
	return nil
}

// fields are the fields to show: those asked for, in that order, else all that
// the reader may see, in the model's.
func (p *parser) fields() error {
	if !p.values.Has("fields") {
		p.request.Fields = p.visible()
		return nil
	}
	for name := range strings.SplitSeq(p.values.Get("fields"), ",") {
		f := p.model.Field(name)
		if f == nil || p.reader.Sees(f) == Hidden {
			return badParameter("fields names %s, which is not a field of %s%s", short(name), p.model.Name, didYouMean(name, names(p.visible())))
		}
		if slices.Contains(p.request.Fields, f) {
			return badParameter("fields names %s twice; name it once.", f.Name)
		}
		p.request.Fields = append(p.request.Fields, f)
	}
	return nil
}

func (p *parser) visible() []*readmodel.Field {
	var fields []*readmodel.Field
	for i := range p.model.Fields {
		if f := &p.model.Fields[i]; p.reader.Sees(f) != Hidden {
			fields = append(fields, f)
		}
	}
	return fields
}

func names(fields []*readmodel.Field) []string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	return names
}

// sortKey is the sort that was asked for, or nil.
func (p *parser) sortKey() (*readmodel.SortKey, error) {
	if !p.values.Has("sort") {
		return nil, nil
	}
	name, desc := strings.CutPrefix(p.values.Get("sort"), "-")
	f := p.model.Field(name)
	if f == nil || p.reader.Sees(f) == Hidden {
		return nil, badParameter("sort=%s is not a field of %s%s", short(name), p.model.Name, didYouMean(name, names(p.visible())))
	}
	if p.reader.Sees(f) != Full {
		return nil, personalField(name)
	}
	return &readmodel.SortKey{Field: name, Desc: desc}, nil
}

// conditions are the filters, typed.
func (p *parser) conditions() ([]condition, error) {
	names, err := p.filterNames(true)
	if err != nil {
		return nil, err
	}
	var conditions []condition
	for _, name := range names {
		f := p.model.Field(name)
		if p.reader.Sees(f) != Full {
			return nil, personalField(name)
		}
		c, err := parseCondition(f, p.values.Get(name), rangeable(p.model, name), p.request.Zone)
		if err != nil {
			return nil, err
		}
		conditions = append(conditions, c)
	}
	return conditions, nil
}
