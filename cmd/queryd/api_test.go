package main

import (
	"archive/zip"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/primitive"
)

type page struct {
	Data []map[string]json.RawMessage
	Next *string
}

func pageOf(t *testing.T, body string) page {
	t.Helper()
	var p page
	if err := json.Unmarshal([]byte(body), &p); err != nil {
		t.Fatalf("%v: %.200s", err, body)
	}
	return p
}

// walk follows the Link headers to the end and returns the ids.
func walk(t *testing.T, q *queryd, key, path string) (ids []string) {
	t.Helper()
	for path != "" {
		answer, body := q.get(t, key, path)
		if answer.StatusCode != http.StatusOK {
			t.Fatalf("%s: %d %s", path, answer.StatusCode, body)
		}
		p := pageOf(t, body)
		for _, row := range p.Data {
			ids = append(ids, string(row["settlementId"]))
		}
		path, _, _ = strings.Cut(strings.TrimPrefix(answer.Header.Get("Link"), "<"), ">")
		if (path == "") != (p.Next == nil) {
			t.Fatalf("Link and next differ: %q, %v", path, p.Next)
		}
	}
	return ids
}

func TestPagesOfAMerchant(t *testing.T) {
	h := newHouse(t)
	h.fill(t, 3000)
	q := h.serve(t)
	key := h.key(t, "--merchant", "2")
	seen := map[string]bool{}
	for _, id := range walk(t, q, key, "/v1/settlement?limit=77") {
		seen[id] = true
	}
	if len(seen) != 1000 {
		t.Errorf("%d settlements of merchant 2 by pages, want 1000 (a tenth of them has no payDue)", len(seen))
	}
	if n := len(walk(t, q, key, "/v1/settlement?limit=77&payDue=2026-11-02..2026-11-02&status=in:PAID,HELD")); n == 0 {
		t.Error("no rows of one day")
	}
	_, body := q.get(t, key, "/v1/settlement?limit=1&fields=amount,installment,payDue,buyerName,paidAt&tz=Asia/Seoul")
	for _, want := range []string{`"amount":123456789012345`, `"installment":9007199254740993`, `"buyerName":"홍*동"`, `+09:00"`} {
		if !strings.Contains(body, want) {
			t.Errorf("%s is not in %s", want, body)
		}
	}
}

// unpacked is the text of a workbook's parts, or any other body as it is.
func unpacked(t *testing.T, body string) string {
	t.Helper()
	if !strings.HasPrefix(body, "PK") {
		return body
	}
	book, err := zip.NewReader(strings.NewReader(body), int64(len(body)))
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, f := range book.File {
		part, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(&all, part); err != nil {
			t.Fatal(err)
		}
	}
	if !strings.Contains(all.String(), "of-merchant-2") {
		t.Error("the workbook's rows are not where this test looks for them")
	}
	return all.String()
}

// No route and no format shows a row outside the key's scope, or a deleted one.
func TestScopeOnEveryRoute(t *testing.T) {
	h := newHouse(t)
	h.fill(t, 300)
	deleted, _ := bson.Marshal(bson.D{{Key: "_id", Value: int64(9001)}, {Key: "_p", Value: bson.D{{Key: "s", Value: "shard0"}, {Key: "v", Value: bson.D{{Key: "e", Value: int64(1)}, {Key: "r", Value: int64(1)}}}, {Key: "del", Value: primitive.NewDateTimeFromTime(time.Now())}}}})
	if _, err := h.db.Insert(t.Context(), h.model.Collection(), []bson.Raw{deleted}); err != nil {
		t.Fatal(err)
	}
	q := h.serve(t)
	for _, args := range [][]string{{"--merchant", "2"}, {"--partner", "20"}, {"--scope", "merchant=2,3", "--partner", "20"}} {
		key := h.key(t, args...)
		parameters := ""
		for _, path := range []string{"", "/export.ndjson", "/export.json", "/export.csv", "/export.xlsx"} {
			answer, body := q.get(t, key, "/v1/settlement"+path+parameters)
			if answer.StatusCode != http.StatusOK {
				t.Fatalf("%v %s: %d %s", args, path, answer.StatusCode, body)
			}
			body = unpacked(t, body)
			if strings.Contains(body, "of-merchant-1") || strings.Contains(body, "of-merchant-3") || strings.Contains(body, "홍길동") || strings.Contains(body, "234-567") {
				t.Errorf("%v %s shows what is outside of the key's scope", args, path)
			}
			if rows := answer.Trailer.Get("Prejoin-Rows"); path != "" && rows != "100" {
				t.Errorf("%v %s: %s rows, want 100", args, path, rows)
			}
		}
		for id, want := range map[int]int{1: 200, 2: 404, 3: 404, 4: 200, 9001: 404, 999999: 404} {
			if answer, _ := q.get(t, key, fmt.Sprint("/v1/settlement/", id)); answer.StatusCode != want {
				t.Errorf("%v id %d: %d, want %d", args, id, answer.StatusCode, want)
			}
		}
	}
	full := h.key(t, "--all", "--pii")
	if _, body := q.get(t, full, "/v1/settlement/1"); !strings.Contains(body, "홍길동") || !strings.Contains(body, "110-234-567123") {
		t.Errorf("a key made with --pii sees %s", body)
	}
	all := h.key(t, "--all")
	if _, body := q.get(t, all, "/v1/settlement/1"); !strings.Contains(body, "홍*동") || !strings.Contains(body, "110-***-***123") {
		t.Errorf("an operator's key sees %s", body)
	}
	if answer, _ := q.get(t, all, "/v1/settlement/9001"); answer.StatusCode != http.StatusNotFound {
		t.Errorf("a deleted settlement: %d", answer.StatusCode)
	}
}

// A foreign id, an unknown one, and a text that is no id have one answer, but
// for the request's id.
func TestForeignIDIsUnknown(t *testing.T) {
	h := newHouse(t)
	h.fill(t, 3)
	q := h.serve(t)
	key := h.key(t, "--merchant", "2")
	var answers []string
	for _, id := range []string{"2", "77", "abc", "9223372036854775808"} {
		answer, body := q.get(t, key, "/v1/settlement/"+id)
		var p map[string]any
		if err := json.Unmarshal([]byte(body), &p); err != nil {
			t.Fatal(err)
		}
		delete(p, "requestId")
		answers = append(answers, fmt.Sprint(answer.StatusCode, answer.Header.Get("Content-Type"), len(answer.Header), p))
	}
	for _, a := range answers {
		if a != answers[0] {
			t.Errorf("%s differs from %s", a, answers[0])
		}
	}
}

func TestProblems(t *testing.T) {
	h := newHouse(t)
	h.fill(t, 3)
	q := h.serve(t)
	merchant, all := h.key(t, "--merchant", "2"), h.key(t, "--all")
	f := func(key, path string, status int, slug, words string) {
		t.Helper()
		answer, body := q.get(t, key, path)
		var p struct {
			Type, Title, Detail, RequestID string
			Status                         int
		}
		if err := json.Unmarshal([]byte(body), &p); err != nil {
			t.Errorf("%s: %d %.300s", path, answer.StatusCode, body)
			return
		}
		if answer.StatusCode != status || p.Status != status || p.Type != "urn:prejoin:problem:"+slug || !strings.Contains(p.Detail, words) {
			t.Errorf("%s: %d %+v, want %d %s %q", path, answer.StatusCode, p, status, slug, words)
		}
		if answer.Header.Get("Content-Type") != "application/problem+json" || p.RequestID == "" || p.RequestID != answer.Header.Get("X-Request-Id") {
			t.Errorf("%s: headers %v", path, answer.Header)
		}
		for _, leak := range []string{"goroutine", ".go:", "mongo", "_p", "$"} {
			if strings.Contains(body, leak) {
				t.Errorf("%s shows %q: %s", path, leak, body)
			}
		}
	}
	f("", "/v1", 401, "unauthorized", "Authorization: Bearer")
	f("pj_x", "/v1/settlement", 401, "unauthorized", "not valid")
	f("", "/v1/settlement/export.csv", 401, "unauthorized", "")
	f(merchant, "/v1/settlment", 404, "unknown-model", "GET /v1")
	f(merchant, "/v2", 404, "unknown-route", "GET /v1")
	f(merchant, "/v1/settlement/export.pdf", 404, "unknown-format", "export.csv")
	f(merchant, "/v1/settlement?stauts=PAID", 400, "unknown-parameter", "did you mean status?")
	f(merchant, "/v1/settlement?payDue=2026-13-01", 400, "bad-parameter", "2026-11-30")
	f(merchant, "/v1/settlement?status=PAID;merchantId=1", 400, "bad-parameter", "percent-encode")
	f(merchant, "/v1/settlement?merchantId=1", 403, "out-of-scope", "scope")
	f(merchant, "/v1/settlement?partnerId=20", 403, "out-of-scope", "not limited by partner")
	f(h.key(t, "--partner", "20"), "/v1/settlement?merchantId=1", 403, "out-of-scope", "not limited by merchant")
	f(h.key(t, "--merchant", "abc"), "/v1/settlement", 403, "out-of-scope", "not of the type of merchantId")
	f(merchant, "/v1/settlement?page=bm90IGEgdG9rZW4", 400, "page-token", "first page")
	f(merchant, "/v1/settlement?buyerName=x", 403, "personal-field", "--pii")
	f(all, "/v1/settlement?type=FAST", 422, "no-access-pattern", "leave out type")
	f(all, "/v1/settlement/export.csv?end=yes", 400, "bad-parameter", "end=1")
	f(all, "/v1/settlement?end=1", 400, "unknown-parameter", "end")
	f(all, "/v1/settlement/export.csv?limit=5", 400, "unknown-parameter", "limit")
	f(all, "/v1/settlement/export.csv?stauts=PAID", 400, "unknown-parameter", "status")
	f(all, "/v1/settlement/1?status=PAID", 400, "unknown-parameter", "status")
	f(all, "/v1?x=1", 400, "unknown-parameter", "")
	f(all, "/v1/settlement?status="+strings.Repeat("A", 9000), 414, "url-too-long", "8192")
	answer := q.request(t, http.MethodDelete, all, "/v1/settlement")
	answer.Body.Close()
	if answer.StatusCode != http.StatusMethodNotAllowed || !strings.Contains(answer.Header.Get("Allow"), "GET") {
		t.Errorf("DELETE: %d, Allow %q", answer.StatusCode, answer.Header.Get("Allow"))
	}
}

func TestBodyIsRefused(t *testing.T) {
	q := newHouse(t).serve(t)
	r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, q.url+"/v1", strings.NewReader("x"))
	answer, err := q.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("%d", answer.StatusCode)
	}
}

func TestExportHeadersAndTrailers(t *testing.T) {
	h := newHouse(t)
	h.fill(t, 2500)
	q := h.serve(t)
	key := h.key(t, "--all")
	answer, body := q.get(t, key, "/v1/settlement/export.ndjson")
	rows := strings.Count(body, "\n")
	if rows != 2500 || answer.Trailer.Get("Prejoin-Rows") != "2500" || len(answer.Trailer.Get("Prejoin-Digest")) != len("sha-256=")+64 || !strings.Contains(answer.Trailer.Get("Server-Timing"), "encode;dur=") {
		t.Errorf("%d rows, trailers %v", rows, answer.Trailer)
	}
	if d := answer.Header.Get("Content-Disposition"); !strings.HasPrefix(d, `attachment; filename="settlement-20`) || !strings.HasSuffix(d, `.ndjson"`) {
		t.Error(d)
	}
	digest := answer.Trailer.Get("Prejoin-Digest")
	answer, body = q.get(t, key, "/v1/settlement/export.csv?lang=ko")
	records, err := csv.NewReader(strings.NewReader(body)).ReadAll()
	if err != nil || len(records) != 2501 || !strings.Contains(records[0][0], "정산번호") {
		t.Errorf("%d records, %v, %v", len(records), err, records[0])
	}
	if answer.Trailer.Get("Prejoin-Digest") != digest {
		t.Error("two formats of the same rows have two digests")
	}
	head := q.request(t, http.MethodHead, key, "/v1/settlement/export.xlsx")
	head.Body.Close()
	if at := head.Header.Get("Prejoin-Instant"); at != "" {
		t.Errorf("HEAD reads nothing but tells the instant %s", at)
	}
	if head.StatusCode != http.StatusOK || !strings.Contains(head.Header.Get("Content-Disposition"), ".xlsx") {
		t.Errorf("HEAD: %d %v", head.StatusCode, head.Header)
	}
	for format, want := range map[string]string{
		"ndjson": fmt.Sprintf("\n{\"end\":true,\"rows\":2500,\"digest\":%q}\n", strings.TrimPrefix(digest, "sha-256=")),
		"csv":    "\n#end rows=2500 digest=" + strings.TrimPrefix(digest, "sha-256=") + strings.Repeat(",", len(records[0])-1) + "\r\n",
		"json":   "]\n",
	} {
		if answer, body = q.get(t, key, "/v1/settlement/export."+format+"?end=1"); answer.StatusCode != http.StatusOK || !strings.HasSuffix(body, want) {
			t.Errorf("%s with end=1: %d %q", format, answer.StatusCode, body[max(0, len(body)-200):])
		}
	}
	answer, body = q.get(t, key, "/v1/settlement/export.ndjson?payDue=2020-01-01")
	if body != "" || answer.StatusCode != http.StatusOK || answer.Trailer.Get("Prejoin-Rows") != "0" {
		t.Errorf("an empty export: %d %q %v", answer.StatusCode, body, answer.Trailer)
	}
}

func TestModels(t *testing.T) {
	h := newHouse(t)
	q := h.serve(t)
	_, body := q.get(t, h.key(t, "--merchant", "1"), "/v1")
	if !strings.Contains(body, `"name":"settlement"`) || strings.Contains(body, `"scope":"none"`) || strings.Contains(body, "SELECT") {
		t.Errorf("%.2000s", body)
	}
	_, body = q.get(t, h.key(t, "--all"), "/v1")
	if !strings.Contains(body, `"scope":"none"`) {
		t.Error("an operator does not see the patterns for operators")
	}
	if _, body = q.get(t, h.key(t, "--scope", "shop=1"), "/v1"); strings.Contains(body, "settlement") {
		t.Error("a key sees a model that it cannot read")
	}
}
