package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"prejoin/pkg/access"
	"prejoin/pkg/export"
	"prejoin/pkg/mongodb"
	"prejoin/pkg/query"
	"prejoin/pkg/readmodel"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// store is a Store of functions.
type store struct {
	find func() (*mongodb.Cursor, error)
}

func (s store) Find(context.Context, mongodb.Find) (*mongodb.Cursor, error) { return s.find() }
func (s store) Snapshot(context.Context) (*mongodb.Snapshot, error) {
	_, err := s.find()
	return nil, err
}
func (store) Model(context.Context, string) (*mongodb.ModelRecord, error) {
	return &mongodb.ModelRecord{Name: "thing", Served: "thing_v1", Version: 1}, nil
}

func (store) Missing(context.Context, *readmodel.Model, string) ([]string, error) { return nil, nil }

type oneKey struct{ key access.Key }

func (o oneKey) Key(context.Context, string) (access.Key, error) { return o.key, nil }

// edge is an API over a find that fails, and a request to it.
func edge(t *testing.T, find func() (*mongodb.Cursor, error)) (ask func(path string) *httptest.ResponseRecorder, log *bytes.Buffer) {
	t.Helper()
	a, text, log := edgeAPI(t, find, Config{})
	return func(path string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		a.ServeHTTP(w, edgeRequest(path, text))
		return w
	}, log
}

func edgeRequest(path, key string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	r.Header.Set("X-Api-Key", key)
	return r
}

// edgeAPI is the API and the text of an operator's key.
func edgeAPI(t *testing.T, find func() (*mongodb.Cursor, error), cfg Config) (a *API, text string, log *bytes.Buffer) {
	t.Helper()
	m := &readmodel.Model{Name: "thing", Version: 1, ID: "id", Fields: []readmodel.Field{{Name: "id", Type: readmodel.Int64}, {Name: "at", Type: readmodel.Date}},
		Access: []readmodel.Access{{Scope: "none", Range: "at", Sort: readmodel.SortKey{Field: "at"}}}}
	tokens, err := query.NewTokens(make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	k, text := access.NewKey("test")
	k.All = true
	log = &bytes.Buffer{}
	cfg.Models, cfg.Tokens, cfg.Logger = []*readmodel.Model{m}, tokens, slog.New(slog.NewTextHandler(log, nil))
	a, err = New(t.Context(), cfg, store{find}, access.NewAuthenticator(oneKey{k}, 0))
	if err != nil {
		t.Fatal(err)
	}
	return a, text, log
}

// What fails inside is a problem without a word of the inside, and in the log.
func TestInsideStaysInside(t *testing.T) {
	f := func(name string, find func() (*mongodb.Cursor, error)) {
		t.Helper()
		ask, log := edge(t, find)
		for _, path := range []string{"/v1/thing", "/v1/thing/1", "/v1/thing/export.csv"} {
			w := ask(path)
			var p struct{ Type, Detail, RequestID string }
			if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || w.Code != http.StatusInternalServerError || p.Type != "urn:prejoin:problem:internal" || strings.Contains(w.Body.String(), "secret") {
				t.Errorf("%s %s: %d %s", name, path, w.Code, w.Body)
			}
			if w.Header().Get("Content-Disposition") != "" || w.Header().Get("Trailer") != "" {
				t.Errorf("%s %s: a problem has an export's headers %v", name, path, w.Header())
			}
			if !strings.Contains(log.String(), p.RequestID) || !strings.Contains(log.String(), "secret") {
				t.Errorf("%s %s is not in the log: %s", name, path, log)
			}
		}
	}
	f("panic", func() (*mongodb.Cursor, error) { panic("secret") })
	f("error", func() (*mongodb.Cursor, error) { return nil, errors.New("secret") })
}

func TestRequestIDIsHarmless(t *testing.T) {
	ask, _ := edge(t, func() (*mongodb.Cursor, error) { return nil, errors.New("x") })
	if id := ask("/v1").Header().Get("X-Request-Id"); len(id) < 16 {
		t.Errorf("made %q", id)
	}
	for in, keep := range map[string]bool{"abc-1.2_3": true, "a b": false, `"><script>`: false, strings.Repeat("a", 65): false} {
		if requestIDForm.MatchString(in) != keep {
			t.Errorf("%q", in)
		}
	}
}

func TestDisposition(t *testing.T) {
	f := func(name, want string) {
		t.Helper()
		if got := disposition(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	f("settlement-20261130.csv", `attachment; filename="settlement-20261130.csv"`)
	f("정산 내역.xlsx", `attachment; filename="__ __.xlsx"; filename*=UTF-8''%EC%A0%95%EC%82%B0%20%EB%82%B4%EC%97%AD.xlsx`)
	f("a\"b\r\nSet-Cookie: x.csv", `attachment; filename="a_b__Set-Cookie: x.csv"; filename*=UTF-8''a%22b%0D%0ASet-Cookie:%20x.csv`)
}

func TestGateCountsByKey(t *testing.T) {
	g := newGate(3, 2)
	var leave []func()
	f := func(key string, ok bool) {
		t.Helper()
		l, err := g.enter(key)
		if (err == nil) != ok {
			t.Fatalf("%s: %v", key, err)
		}
		if ok {
			leave = append(leave, l)
		}
	}
	f("a", true)
	f("a", true)
	f("a", false)
	f("b", true)
	f("c", false)
	leave[0]()
	f("c", true)
	for _, l := range leave[1:] {
		l()
	}
	if g.all != 0 || len(g.ofKey) != 0 {
		t.Errorf("%d, %v are left behind", g.all, g.ofKey)
	}
}

// What a HEAD says of a format is what its encoder says.
func TestFormatsAreTheirEncoders(t *testing.T) {
	m := &readmodel.Model{Name: "thing", ID: "id", Fields: []readmodel.Field{{Name: "id", Type: readmodel.Int64}}}
	l, err := export.NewLayout(m, export.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range formats {
		e, err := f.encoder(l, true)
		if err != nil {
			t.Fatal(err)
		}
		if e.ContentType() != f.contentType || e.Extension() != f.name {
			t.Errorf("%s: %s, %s", f.name, e.ContentType(), e.Extension())
		}
	}
}

// A problem that is known only after the answer's time reaches the client.
func TestLateProblemIsDelivered(t *testing.T) {
	a, key, _ := edgeAPI(t, func() (*mongodb.Cursor, error) {
		time.Sleep(300 * time.Millisecond)
		return nil, context.DeadlineExceeded
	}, Config{})
	a.answerTime = 100 * time.Millisecond
	server := httptest.NewServer(a)
	defer server.Close()
	for _, path := range []string{"/v1/thing/export.csv", "/v1/thing"} {
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+path, nil)
		r.Header.Set("X-Api-Key", key)
		answer, err := server.Client().Do(r)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		answer.Body.Close()
		if answer.StatusCode != http.StatusServiceUnavailable {
			t.Errorf("%s: %d", path, answer.StatusCode)
		}
	}
}

// Over the limit a request is refused before its key is looked at.
func TestRequestsAtOnceAreLimited(t *testing.T) {
	inside, leave := make(chan struct{}), make(chan struct{})
	a, key, _ := edgeAPI(t, func() (*mongodb.Cursor, error) {
		inside <- struct{}{}
		<-leave
		return nil, errors.New("x")
	}, Config{Requests: 2})
	var running sync.WaitGroup
	for range 2 {
		running.Go(func() { a.ServeHTTP(httptest.NewRecorder(), edgeRequest("/v1/thing", key)) })
		<-inside
	}
	w := httptest.NewRecorder()
	a.ServeHTTP(w, edgeRequest("/v1/thing", "no key"))
	if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" || !strings.Contains(w.Body.String(), "problem:busy") {
		t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
	}
	close(leave)
	running.Wait()
	w = httptest.NewRecorder()
	if a.ServeHTTP(w, edgeRequest("/v1/thing", "no key")); w.Code != http.StatusUnauthorized {
		t.Errorf("a place that became free: %d", w.Code)
	}
}

// An export that must wait its turn costs no encoder, nor does a HEAD.
func TestEncoderIsMadeWithinTheGate(t *testing.T) {
	a, key, _ := edgeAPI(t, func() (*mongodb.Cursor, error) { return nil, errors.New("x") }, Config{ExportsPerKey: 1})
	made := 0
	f := formats[0]
	f.encoder = func(*export.Layout, bool) (export.Encoder, error) { made++; return nil, errors.New("made") }
	a.echo.Match([]string{http.MethodGet, http.MethodHead}, "/v1/:model/export.test", a.export(f), a.authenticate)
	ask := func(method string) int {
		w, r := httptest.NewRecorder(), edgeRequest("/v1/thing/export.test", key)
		r.Method = method
		a.ServeHTTP(w, r)
		return w.Code
	}
	if code := ask(http.MethodHead); code != http.StatusOK || made != 0 {
		t.Errorf("HEAD: %d, %d encoders", code, made)
	}
	id := strings.Split(key, "_")[1]
	leave, err := a.gate.enter(id)
	if err != nil {
		t.Fatal(err)
	}
	if code := ask(http.MethodGet); code != http.StatusTooManyRequests || made != 0 {
		t.Errorf("over the limit: %d, %d encoders", code, made)
	}
	leave()
	if code := ask(http.MethodGet); code != http.StatusInternalServerError || made != 1 {
		t.Errorf("within: %d, %d encoders", code, made)
	}
}

// The names of what is hidden from a key are nowhere in what it is told.
func TestHiddenNamesAreNotTold(t *testing.T) {
	hidden := map[string]string{"reader": "hidden"}
	lines := &readmodel.Child{Field: "lines", Fields: []readmodel.Field{{Name: "kind", Type: readmodel.Text}, {Name: "secretPart", Type: readmodel.Text, Roles: hidden}}}
	dark := &readmodel.Child{Field: "secretLines", Fields: []readmodel.Field{{Name: "secretA", Type: readmodel.Text, Roles: hidden}}}
	m := &readmodel.Model{Name: "thing", ID: "id", Scope: []readmodel.Scope{{Name: "merchant", Field: "id"}}, Fields: []readmodel.Field{
		{Name: "id", Type: readmodel.Int64}, {Name: "secret", Type: readmodel.Text, Roles: hidden},
		{Name: "lines", Type: readmodel.Array, Child: lines}, {Name: "secretLines", Type: readmodel.Array, Child: dark}},
		Reports: []readmodel.Report{{Name: "all", Columns: []string{"secret", "lines.secretPart"}}}}
	r := query.Reader{All: true, Role: query.RoleReader}
	text, err := json.Marshal(listed{Description: describe(m, r)})
	if err != nil || strings.Contains(string(text), "secret") || !strings.Contains(string(text), `"kind"`) || strings.Contains(string(text), "reports") {
		t.Errorf("%v %s", err, text)
	}
	for _, parameters := range []string{"fields=secretLines", "sort=secret", "secret=1", "secretLines=1"} {
		values, _ := url.ParseQuery(parameters)
		if _, err := query.Parse(m, r, values, query.Options{Export: true}); err == nil || strings.Count(err.Error(), "secret") != strings.Count(parameters, "secret") {
			t.Errorf("%s: %v", parameters, err)
		}
	}
	if _, err := layout(&query.Request{Model: m, Zone: time.UTC}, r, export.Config{}); err == nil {
		t.Error("no column stands for all columns")
	}
}
