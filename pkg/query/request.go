package query

import (
	"encoding/binary"
	"fmt"
	"net/url"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/bson"

	"prejoin/pkg/readmodel"
)

// Request is a find that one index serves.
type Request struct {
	Model  *readmodel.Model
	Access *readmodel.Access // the pattern that serves it; nil for a get
	Filter bson.D            // the whole result: scope, tombstones, filters
	Sort   bson.D            // of the whole result
	// Segments are to be read one after the other until Limit rows are there;
	// together they are Filter in the order of Sort, from the page's place on.
	Segments   []Segment
	Projection bson.D             // nil: whole documents
	Fields     []*readmodel.Field // to show, in order
	Limit      int                // of a page
	Zone       *time.Location
	Lang       string // "en", "ko", or "" where it was not given
	End        bool   // an export tells its end in its last line

	sort    readmodel.SortKey
	bounded bool // the filter limits the sort field, so that no null is in the result
	fixed   bool // the filter leaves one value of the sort field
	binding []byte
	tokens  *Tokens
}

// Segment is one find of a request, with its own order.
type Segment struct{ Filter, Sort bson.D }

// Options are what a request does not say itself.
type Options struct {
	Collection string         // that is served; page tokens are bound to it
	Tokens     *Tokens        // nil: no pages
	Zone       *time.Location // where tz is not given; nil: UTC
	Export     bool           // all rows: neither limit nor page
}

// notDeleted leaves tombstones out.
var notDeleted = bson.D{{Key: "_p.del", Value: bson.D{{Key: "$exists", Value: false}}}}

// Parse reads a page's or an export's parameters. The error is a *Problem.
func Parse(m *readmodel.Model, r Reader, values url.Values, o Options) (*Request, error) {
	p := &parser{model: m, reader: r, options: o, values: values, known: pageParameters,
		request: &Request{Model: m, tokens: o.Tokens}}
	if o.Export {
		p.known = exportParameters
	}
	for _, step := range []func() error{p.once, p.zone, p.lang, p.end, p.limit, p.fields, p.find, p.page} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return p.request, nil
}

// ByID is the find of one document. An id outside the reader's scope finds
// nothing, like one that does not exist; so does a text that cannot be an id.
// The error is a *Problem.
func ByID(m *readmodel.Model, r Reader, id string, values url.Values, o Options) (*Request, error) {
	p := &parser{model: m, reader: r, options: o, values: values, known: getParameters,
		request: &Request{Model: m, Limit: 1}}
	noFilters := func() error { _, err := p.filterNames(false); return err }
	for _, step := range []func() error{p.once, p.zone, p.lang, p.fields, noFilters} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	scope, err := scopeClauses(m, r)
	if err != nil {
		return nil, err
	}
	clause := bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: bson.A{}}}}} // nothing
	if v, err := typed(m.Field(m.ID), id); err == nil {
		clause = bson.D{{Key: "_id", Value: v}}
	}
	p.request.Filter = and(append(scope, notDeleted, clause))
	p.request.Segments = []Segment{{Filter: p.request.Filter}}
	p.project()
	return p.request, nil
}

// find chooses the access pattern and builds the filter.
func (p *parser) find() error {
	conditions, err := p.conditions()
	if err != nil {
		return err
	}
	sort, err := p.sortKey()
	if err != nil {
		return err
	}
	scope, err := scopeClauses(p.model, p.reader)
	if err != nil {
		return err
	}
	if err := checkScope(p.model, p.reader, conditions); err != nil {
		return err
	}
	a, err := asked{p.model, p.reader, conditions, sort}.choose()
	if err != nil {
		return err
	}
	p.use(a, sort, scope, conditions)
	return nil
}

func (p *parser) use(a *readmodel.Access, sort *readmodel.SortKey, scope []bson.D, conditions []condition) {
	clauses := append(scope, notDeleted)
	r := p.request
	for _, c := range conditions {
		clauses = append(clauses, c.clause(p.model.Key(c.field.Name)))
		if c.field.Name == a.Sort.Field {
			r.bounded, r.fixed = true, !c.ranged()
		}
	}
	r.Access, r.Filter = a, and(clauses)
	r.sort = a.Sort
	if sort != nil {
		r.sort.Desc = sort.Desc
	}
	r.Sort = order(p.model, r.sort)
	r.Segments = []Segment{r.span()}
	if r.fixed {
		r.Segments = []Segment{r.tied()}
	}
	p.project()
}

// and keeps each clause a document of its own, so that two on one key never
// replace one another.
func and(clauses []bson.D) bson.D {
	all := make(bson.A, len(clauses))
	for i, c := range clauses {
		all[i] = c
	}
	return bson.D{{Key: "$and", Value: all}}
}

// project asks for the fields shown and what a page token needs, unless that is
// nearly the whole document.
func (p *parser) project() {
	r := p.request
	if len(r.Fields) == len(p.model.Fields) {
		return
	}
	keys := []string{"_id"}
	for _, f := range r.Fields {
		keys = append(keys, p.model.Key(f.Name))
	}
	if r.sort.Field != "" {
		keys = append(keys, p.model.Key(r.sort.Field))
	}
	slices.Sort(keys)
	for _, k := range slices.Compact(keys) {
		r.Projection = append(r.Projection, bson.E{Key: k, Value: int32(1)})
	}
}

// page binds the request, then moves it to the token's place.
func (p *parser) page() error {
	if p.options.Export {
		return nil
	}
	if err := p.bind(); err != nil {
		return err
	}
	if !p.values.Has("page") {
		return nil
	}
	at, ok := p.options.Tokens.decode(p.values.Get("page"), p.request.binding)
	if !ok {
		return badToken()
	}
	p.request.Segments = p.request.segments(at)
	return nil
}

// bind digests what a token of this request belongs to. The filter holds the
// scope and the resolved instants, so a change of either ends the token.
func (p *parser) bind() error {
	filter, err := bson.Marshal(bson.D{{Key: "filter", Value: p.request.Filter}, {Key: "sort", Value: p.request.Sort}})
	if err != nil {
		return badParameter("The filter cannot be written as BSON (%v); shorten it.", err)
	}
	version := binary.BigEndian.AppendUint64(nil, uint64(p.model.Version))
	p.request.binding = bind([]byte(p.model.Name), version, []byte(p.model.Shape),
		[]byte(p.options.Collection), []byte(p.reader.Key), filter)
	return nil
}

// Next is the token of the page after the one that ends with last, a document
// as the find returned it.
func (r *Request) Next(last bson.Raw) (string, error) {
	if r.tokens == nil {
		return "", fmt.Errorf("making a page token: this request has no pages")
	}
	at, err := placeOf(r.Model, r.sort, last)
	if err != nil {
		return "", fmt.Errorf("making a page token: %w", err)
	}
	return r.tokens.encode(at, r.binding)
}
