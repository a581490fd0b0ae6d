package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/primitive"

	"prejoin/pkg/mongodb"
	"prejoin/pkg/readmodel"
	"prejoin/pkg/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

const modelFile = "../../readmodels/settlement.yaml"

// output is what a run prints, safe to read while it runs.
type output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

// house is a read model in a database of its own.
type house struct {
	uri, database string
	db            *mongodb.DB
	model         *readmodel.Model
}

func newHouse(t testing.TB) *house {
	t.Helper()
	uri, database := testenv.MongoDB(t)
	return houseAt(t, uri, database)
}

func houseAt(t testing.TB, uri, database string) *house {
	t.Helper()
	m, err := readmodel.Load(modelFile)
	if err != nil {
		t.Fatal(err)
	}
	db, err := mongodb.Open(t.Context(), mongodb.Config{URI: uri, Database: database})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close(context.Background()) })
	if err := errors.Join(db.Prepare(t.Context(), m), db.Serve(t.Context(), m)); err != nil {
		t.Fatal(err)
	}
	return &house{uri, database, db, m}
}

// tool runs a command to its end.
func (h *house) tool(t testing.TB, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errs output
	code = run(t.Context(), append(args, "--mongodb-uri", h.uri, "--mongodb-db", h.database), &out, &errs)
	return out.String(), errs.String(), code
}

func (h *house) key(t testing.TB, args ...string) string {
	t.Helper()
	out, errs, code := h.tool(t, append([]string{"keys", "create", "--name", "test"}, args...)...)
	if code != 0 {
		t.Fatalf("keys create: %s", errs)
	}
	return strings.TrimSuffix(out, "\n")
}

// fill inserts n settlements of merchants 1 to 3: the i-th belongs to merchant
// 1 + i % 3, and its product name says so.
func (h *house) fill(t testing.TB, n int) {
	t.Helper()
	h.fillWide(t, n, 0)
}

// fillWide gives each settlement a hold reason of that many random bytes in
// hexadecimal, so that no format can make it small.
func (h *house) fillWide(t testing.TB, n, width int) {
	t.Helper()
	random, wide := make([]byte, width), slices.IndexFunc(h.model.Fields, func(f readmodel.Field) bool { return f.Name == "holdReason" })
	for from := 1; from <= n; from += 1000 {
		var docs []bson.Raw
		for i := from; i < from+1000 && i <= n; i++ {
			d := settlement(h.model, i)
			if width > 0 {
				_, _ = rand.Read(random)
				d[wide].Value = hex.EncodeToString(random)
			}
			raw, err := bson.Marshal(d)
			if err != nil {
				t.Fatal(err)
			}
			docs = append(docs, raw)
		}
		if _, err := h.db.Insert(t.Context(), h.model.Collection(), docs); err != nil {
			t.Fatal(err)
		}
	}
}

func settlement(m *readmodel.Model, i int) bson.D {
	day := time.Date(2026, 11, 1+i%28, 0, 0, 0, 0, time.UTC)
	merchant := int64(1 + i%3)
	amount, _ := primitive.ParseDecimal128(fmt.Sprintf("%d.%02d", 1234567890123450000+i, i%100))
	line := bson.D{{Key: "kind", Value: "PG_FEE"}, {Key: "base", Value: amount}, {Key: "rate", Value: amount}, {Key: "amount", Value: amount}, {Key: "vat", Value: nil}}
	known := map[string]any{
		"settlementId": int64(i), "orderNo": fmt.Sprintf("%016d", i), "merchantId": merchant, "partnerId": merchant * 10,
		"merchantName": fmt.Sprintf("가맹점 %d", merchant), "productName": fmt.Sprintf("of-merchant-%d, \"신선\" 🍊\n%d", merchant, i),
		"buyerName": "홍길동", "paidAt": day.Add(time.Duration(i) * time.Second), "payDue": day, "type": "NORMAL",
		"status": []string{"PAID", "HELD", "SCHEDULED"}[i/3%3], "amount": amount, "paymentAmount": amount,
		"lines": bson.A{line}, "accountNo": "110-234-567123", "accountHolder": "김철수", "installment": int64(9007199254740993),
	}
	if i%10 == 0 {
		known["payDue"] = nil
	}
	d := bson.D{{Key: "_id", Value: int64(i)}}
	for _, f := range m.Fields {
		if f.Name != m.ID {
			d = append(d, bson.E{Key: f.Name, Value: known[f.Name]})
		}
	}
	return append(d, bson.E{Key: "_p", Value: bson.D{{Key: "v", Value: bson.D{{Key: "e", Value: int64(1)}, {Key: "r", Value: int64(1)}}}, {Key: "s", Value: "shard0"}, {Key: "t", Value: time.Now()}}})
}

var served = regexp.MustCompile(`queryd serves (http://\S+), admin (http://\S+)`)

// queryd is a running server.
type queryd struct {
	url, admin string
	log        *output
	client     *http.Client
	stop       func() int // ends it and returns the exit status
}

func (h *house) serve(t testing.TB, args ...string) *queryd {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	q := &queryd{log: &output{}, client: &http.Client{Transport: &http.Transport{}}}
	out, ended := &output{}, make(chan int, 1)
	args = append([]string{"serve", "--listen", "127.0.0.1:0", "--admin-addr", "127.0.0.1:0", "--model", modelFile,
		"--mongodb-uri", h.uri, "--mongodb-db", h.database}, args...)
	go func() { ended <- run(ctx, args, out, q.log) }()
	q.stop = sync.OnceValue(func() int { cancel(); q.client.CloseIdleConnections(); return <-ended })
	t.Cleanup(func() {
		if code := q.stop(); code != 0 {
			t.Errorf("queryd ended with %d: %s", code, q.log)
		}
	})
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		if m := served.FindStringSubmatch(out.String()); m != nil {
			q.url, q.admin = m[1], m[2]
			return q
		}
		if time.Now().After(deadline) {
			t.Fatalf("queryd does not serve: %s", q.log)
		}
	}
}

func (q *queryd) request(t testing.TB, method, key, path string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, q.url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	answer, err := q.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

// get returns the answer and its whole body.
func (q *queryd) get(t testing.TB, key, path string) (*http.Response, string) {
	t.Helper()
	answer := q.request(t, http.MethodGet, key, path)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return answer, string(body)
}

// edited writes the bundled model with a change.
func edited(t *testing.T, old, text string) string {
	t.Helper()
	model, err := os.ReadFile(modelFile)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(model, []byte(old)) {
		t.Fatalf("the model has no %q", old)
	}
	path := filepath.Join(t.TempDir(), "settlement.yaml")
	if err := os.WriteFile(path, bytes.Replace(model, []byte(old), []byte(text), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
