package flush

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"go.mongodb.org/mongo-driver/bson"

	"prejoin/pkg/bench"
	"prejoin/pkg/bench/synthetic"
	"prejoin/pkg/export"
	"prejoin/pkg/readmodel"
)

// cadences are the rows between two flushes. The first is what a writer does
// that flushes each line; export.Stream's default is the last.
var cadences = []int{1, 100, 1000}

// New returns the bench over that many documents of the model.
func New(m *readmodel.Model, rows int) bench.Bench {
	return bench.Bench{
		Name:  "flush",
		About: fmt.Sprintf("%d documents of %s as NDJSON through Echo to a loopback client, by rows between flushes", rows, m.Name),
		Setup: func(context.Context) (*bench.Fixture, error) { return setup(m, rows) },
	}
}

func setup(m *readmodel.Model, rows int) (*bench.Fixture, error) {
	docs, err := synthetic.Documents(m, rows)
	if err != nil {
		return nil, err
	}
	layout, err := export.NewLayout(m, export.Config{})
	if err != nil {
		return nil, fmt.Errorf("laying out model %s: %w", m.Name, err)
	}
	server, err := startServer(docs, layout)
	if err != nil {
		return nil, err
	}
	f := &bench.Fixture{Close: server.close}
	for _, n := range cadences {
		f.Variants = append(f.Variants, variant(server, docs, n))
	}
	return f, nil
}

func variant(s *server, docs []bson.Raw, cadence int) bench.Variant {
	return bench.Variant{
		Name: fmt.Sprintf("rows-%d", cadence),
		Check: func(ctx context.Context) (string, error) {
			sum := sha256.New()
			_, err := fetch(ctx, s.url(cadence), sum)
			return hex.EncodeToString(sum.Sum(nil)), err
		},
		Run: func(ctx context.Context) (bench.Work, error) {
			n, err := fetch(ctx, s.url(cadence), io.Discard)
			return bench.Work{Rows: int64(len(docs)), Bytes: n}, err
		},
	}
}

// fetch reads the whole answer into w.
func fetch(ctx context.Context, url string, w io.Writer) (int64, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, fmt.Errorf("asking for %s: %w", url, err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, fmt.Errorf("asking for the export: %w", err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("asking for the export: %s", res.Status)
	}
	n, err := io.Copy(w, res.Body)
	if err != nil {
		return n, fmt.Errorf("reading the export after %d bytes: %w", n, err)
	}
	if n == 0 {
		return 0, errors.New("reading the export: it is empty")
	}
	return n, nil
}

// options flush by rows alone.
func options(cadence int) export.Options {
	return export.Options{Rows: cadence, Every: time.Hour}
}
