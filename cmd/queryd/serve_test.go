package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"

	"prejoin/pkg/testenv"
)

// What is wrong at start is one sentence and the right status.
func TestBadStarts(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	f := func(code int, words string, args ...string) {
		t.Helper()
		var out, errs output
		all := append([]string{"serve", "--listen", "127.0.0.1:0", "--admin-addr", "127.0.0.1:0", "--mongodb-uri", h.uri, "--mongodb-db", h.database, "--page-key", strings.Repeat("A", 44)}, args...)
		if got := run(t.Context(), all, &out, &errs); got != code || !strings.Contains(errs.String(), words) || strings.Contains(errs.String(), "goroutine") || strings.Count(errs.String(), "\n") != max(1, strings.Count(errs.String(), "settlement.yaml:")) {
			t.Errorf("%v: %d %s, want %d %q", args, got, errs.String(), code, words)
		}
	}
	f(2, "unknown flag", "--modell", "x")
	f(2, "at least 1", "--exports", "0")
	f(2, "at least 1", "--requests=-1")
	f(2, "below --requests", "--exports", "5", "--requests", "5")
	f(2, "--patience is at least", "--patience=-5s")
	f(1, "name a file or folder", "--model", "nonesuch.yaml")
	f(1, "did you mean", "--model", edited(t, "scope:", "scoope:"))
	f(1, "other SQL or fields", "--model", edited(t, "name: holdReason, type: text", "name: holdReason, type: int64"))
	f(1, "version 1 is served", "--model", edited(t, "version: 1", "version: 2"))
	f(1, "check that mongod runs", "--model", modelFile, "--mongodb-uri", "mongodb://127.0.0.1:1/?replicaSet=rs0")
	f(1, "choose a free address", "--model", modelFile, "--listen", taken.Addr().String())
	f(1, "choose a free address", "--model", modelFile, "--admin-addr", taken.Addr().String())
	f(1, "IANA", "--model", modelFile, "--tz", "Mars")
	f(1, "openssl rand", "--model", modelFile, "--page-key", "!")
	f(1, "32", "--model", modelFile, "--page-key", "AAAA")
}

// mongod dies in the middle of an export to a slow client: the client must see
// a broken transfer, in every format, never a short file with a clean end.
func TestKilledMongoIsNoCleanEnd(t *testing.T) {
	t.Parallel()
	m := testenv.PrivateMongo(t)
	h := houseAt(t, m.URI(), "prejoin")
	h.fillWide(t, 10_000, 2000)
	q := h.serve(t, "--exports-per-key", "9")
	key := h.key(t, "--all")
	var answers []*http.Response
	for _, format := range []string{"ndjson", "csv", "json", "xlsx"} {
		answer := q.request(t, http.MethodGet, key, "/v1/settlement/export."+format)
		defer answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			t.Fatalf("%s: %d", format, answer.StatusCode)
		}
		if _, err := io.ReadFull(answer.Body, make([]byte, 1000)); err != nil {
			t.Fatal(err)
		}
		answers = append(answers, answer)
	}
	curl := slowCurl(t, key, q.url+"/v1/settlement/export.ndjson")
	m.Kill()
	if code := curl(); code != 18 {
		t.Errorf("curl ends with %d, want 18 (partial file)", code)
	}
	for _, answer := range answers {
		n, err := io.Copy(io.Discard, answer.Body)
		if !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s: %d bytes and then %v", answer.Request.URL.Path, n, err)
		}
		if answer.Trailer.Get("Prejoin-Rows") != "" {
			t.Errorf("%s: a cut export has trailers", answer.Request.URL.Path)
		}
	}
	answer, body := q.get(t, key, "/v1/settlement")
	if answer.StatusCode != http.StatusServiceUnavailable || answer.Header.Get("Retry-After") == "" {
		t.Errorf("a page without MongoDB: %d %s", answer.StatusCode, body)
	}
	if answer, body = q.get(t, key, "/v1/settlement/export.csv"); answer.StatusCode != http.StatusServiceUnavailable || answer.Header.Get("Content-Disposition") != "" {
		t.Errorf("an export without MongoDB: %d %v %s", answer.StatusCode, answer.Header, body)
	}
}

// slowCurl starts a throttled download; the function it returns waits for the
// end and gives curl's exit status.
func slowCurl(t *testing.T, key, url string) func() int {
	t.Helper()
	path, err := exec.LookPath("curl")
	if err != nil {
		t.Fatalf("looking for curl: %v; install it: what a real client sees is the point of this test", err)
	}
	file := filepath.Join(t.TempDir(), "rows")
	cmd := exec.Command(path, "-sS", "--limit-rate", "4M", "-H", "Authorization: Bearer "+key, "-o", file, url)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(30 * time.Second)
	for begun := false; !begun; time.Sleep(5 * time.Millisecond) {
		info, err := os.Stat(file)
		begun = err == nil && info.Size() > 0
		if !begun && time.Now().After(deadline) {
			t.Fatalf("curl has written nothing to %s in 30 s", file)
		}
	}
	return func() int { _ = cmd.Wait(); return cmd.ProcessState.ExitCode() }
}

// Two exports of one key run, a third waits its turn; a client that takes
// nothing is cut, and its place becomes free.
func TestStuckClientIsCut(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.fillWide(t, 5000, 2000)
	q := h.serve(t, "--patience", "700ms", "--exports-per-key", "1")
	key := h.key(t, "--all")
	stuck := q.request(t, http.MethodGet, key, "/v1/settlement/export.ndjson")
	defer stuck.Body.Close()
	answer, body := q.get(t, key, "/v1/settlement/export.ndjson")
	if answer.StatusCode != http.StatusTooManyRequests || answer.Header.Get("Retry-After") == "" {
		t.Errorf("a second export at once: %d %s", answer.StatusCode, body)
	}
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		if answer, _ := q.get(t, key, "/v1/settlement/export.ndjson?payDue=2020-01-01"); answer.StatusCode == http.StatusOK {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("a client that takes nothing keeps its place")
		}
	}
	if _, err := io.Copy(io.Discard, stuck.Body); !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) && err == nil {
		t.Error("the stuck client sees a clean end")
	}
}

// A slow client that takes something now and then is served to the end, though
// the whole takes longer than its patience.
func TestSlowClientIsServed(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.fillWide(t, 5000, 2000)
	q := h.serve(t, "--patience", "1s")
	answer := q.request(t, http.MethodGet, h.key(t, "--all"), "/v1/settlement/export.ndjson")
	defer answer.Body.Close()
	start, rows := time.Now(), 0
	lines := bufio.NewReaderSize(answer.Body, 64<<10)
	for {
		line, err := lines.ReadSlice('\n')
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("after %d rows: %v", rows, err)
		}
		_ = line
		if rows++; rows%1000 == 0 {
			time.Sleep(250 * time.Millisecond)
		}
	}
	if rows != 5000 || answer.Trailer.Get("Prejoin-Rows") != "5000" {
		t.Errorf("%d rows in %v, trailers %v", rows, time.Since(start), answer.Trailer)
	}
}

func TestGoneClientEndsTheFind(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.fillWide(t, 5000, 2000)
	q := h.serve(t)
	key := h.key(t, "--all")
	answer := q.request(t, http.MethodGet, key, "/v1/settlement/export.ndjson")
	answer.Body.Close()
	client, err := mongo.Connect(t.Context(), options.Client().ApplyURI(h.uri))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Disconnect(context.Background())
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		if n := openCursors(t, client, h); n == 0 {
			break
		} else if time.Now().After(deadline) {

			t.Fatalf("%d cursors are open after the client has gone", n)
		}
	}
	if _, body := q.getAdmin(t, "/metrics"); !strings.Contains(body, `prejoin_queryd_exports_total{format="ndjson",outcome="cut"} 1`) || !strings.Contains(body, "prejoin_queryd_exports_running 0") {
		t.Errorf("%s", body)
	}
}

func openCursors(t *testing.T, client *mongo.Client, h *house) int {
	t.Helper()
	cursor, err := client.Database("admin").Aggregate(t.Context(), bson.A{
		bson.D{{Key: "$currentOp", Value: bson.D{{Key: "idleCursors", Value: true}, {Key: "allUsers", Value: true}}}},
		bson.D{{Key: "$match", Value: bson.D{{Key: "ns", Value: h.database + "." + h.model.Collection()}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	var all []bson.Raw
	if err := cursor.All(t.Context(), &all); err != nil {
		t.Fatal(err)
	}
	return len(all)
}

func (q *queryd) getAdmin(t testing.TB, path string) (int, string) {
	t.Helper()
	r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, q.admin+path, nil)
	answer, err := q.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, _ := io.ReadAll(answer.Body)
	return answer.StatusCode, string(body)
}

func TestOldHTTPIsRefusedForExports(t *testing.T) {
	h := newHouse(t)
	q := h.serve(t)
	key := h.key(t, "--all")
	f := func(path, want string) {
		t.Helper()
		conn, err := net.Dial("tcp", strings.TrimPrefix(q.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn, "GET %s HTTP/1.0\r\nAuthorization: Bearer %s\r\n\r\n", path, key)
		answer, err := io.ReadAll(conn)
		if err != nil || !strings.Contains(string(answer), want) {
			t.Errorf("%s: %v %s", path, err, answer)
		}
	}
	f("/v1/settlement/export.csv", "proxy_http_version 1.1")
	f("/v1/settlement", `"next":null`)
}

// Readiness ends first; a running export ends well within the stop time; and
// queryd then ends with 0.
func TestGracefulStop(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.fillWide(t, 5000, 2000)
	q := h.serve(t, "--drain", "1s")
	if status, body := q.getAdmin(t, "/readyz"); status != 200 {
		t.Fatalf("%d %s", status, body)
	}
	answer := q.request(t, http.MethodGet, h.key(t, "--all"), "/v1/settlement/export.ndjson")
	defer answer.Body.Close()
	var stopped sync.WaitGroup
	stopped.Go(func() {
		if code := q.stop(); code != 0 {
			t.Errorf("exit status %d: %s", code, q.log)
		}
	})
	time.Sleep(200 * time.Millisecond)
	if status, body := q.getAdmin(t, "/readyz"); status != 503 || !strings.Contains(body, "stopping") {
		t.Errorf("readyz while draining: %d %s", status, body)
	}
	if n, err := io.Copy(io.Discard, answer.Body); err != nil || answer.Trailer.Get("Prejoin-Rows") != "5000" {
		t.Errorf("the export was cut after %d bytes: %v", n, err)
	}
	stopped.Wait()
}

// A pointer that moves is followed; a model that came later is served then.
func TestServedPointerIsFollowed(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.fill(t, 3)
	q := h.serve(t)
	key := h.key(t, "--all")
	client, err := mongo.Connect(t.Context(), options.Client().ApplyURI(h.uri))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Disconnect(context.Background())
	models := client.Database(h.database).Collection("_prejoin.models")
	change := func(set bson.D) {
		t.Helper()
		if _, err := models.UpdateOne(t.Context(), bson.D{{Key: "_id", Value: "settlement"}}, bson.D{{Key: "$set", Value: set}}); err != nil {
			t.Fatal(err)
		}
	}
	await := func(status int, words string) {
		t.Helper()
		for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(100 * time.Millisecond) {
			answer, body := q.get(t, key, "/v1/settlement/1")
			if answer.StatusCode == status && strings.Contains(body, words) {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("%d %s, want %d %s", answer.StatusCode, body, status, words)
			}
		}
	}
	await(200, `"settlementId":1`)
	change(bson.D{{Key: "served", Value: "settlement_v9"}})
	await(503, "the collection settlement_v9 is missing")
	change(bson.D{{Key: "version", Value: 2}})
	await(503, "version 2 is served")
	if status, _ := q.getAdmin(t, "/readyz"); status != 503 {
		t.Errorf("readyz without any model: %d", status)
	}
	change(bson.D{{Key: "version", Value: 1}, {Key: "served", Value: h.model.Collection()}})
	await(200, `"settlementId":1`)
}

// An export of a collection that was not served at its instant, or is gone, would
// be complete and empty: it is refused, also before queryd has noticed.
func TestExportOfNothingIsRefused(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.fill(t, 3)
	q := h.serve(t)
	key := h.key(t, "--all")
	client, err := mongo.Connect(t.Context(), options.Client().ApplyURI(h.uri))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Disconnect(context.Background())
	db := client.Database(h.database)
	export := func(status int, words string) {
		t.Helper()
		answer, body := q.get(t, key, "/v1/settlement/export.ndjson")
		if answer.StatusCode != status || !strings.Contains(body, words) {
			t.Errorf("%d %s, want %d %s", answer.StatusCode, body, status, words)
		}
	}
	serve := func(collection string) {
		t.Helper()
		if _, err := db.Collection("_prejoin.models").UpdateOne(t.Context(), bson.D{{Key: "_id", Value: "settlement"}}, bson.D{{Key: "$set", Value: bson.D{{Key: "served", Value: collection}}}}); err != nil {
			t.Fatal(err)
		}
	}
	export(200, `"settlementId":1`)
	serve("")
	export(503, "model-unavailable")
	serve("settlement_v9")
	export(503, "model-unavailable")
	serve(h.model.Collection())
	if err := db.Collection(h.model.Collection()).Drop(t.Context()); err != nil {
		t.Fatal(err)
	}
	export(503, "model-unavailable")
}

// A missing index is told by readiness and by a 503, before a find needs it.
func TestMissingIndexIsNotServed(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.fill(t, 3)
	client, err := mongo.Connect(t.Context(), options.Client().ApplyURI(h.uri))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Disconnect(context.Background())
	const index = "access_payDue_1__id_1_live"
	if _, err := client.Database(h.database).Collection(h.model.Collection()).Indexes().DropOne(t.Context(), index); err != nil {
		t.Fatal(err)
	}
	q := h.serve(t)
	if status, body := q.getAdmin(t, "/readyz"); status != 503 || !strings.Contains(body, index) {
		t.Errorf("readyz: %d %s", status, body)
	}
	key := h.key(t, "--all")
	if answer, body := q.get(t, key, "/v1/settlement"); answer.StatusCode != 503 || !strings.Contains(body, index+" is missing; start the projector") {
		t.Errorf("%d %s", answer.StatusCode, body)
	}
	if err := h.db.Prepare(t.Context(), h.model); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		if answer, _ := q.get(t, key, "/v1/settlement"); answer.StatusCode == http.StatusOK {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("an index that came is not noticed")
		}
	}
}
