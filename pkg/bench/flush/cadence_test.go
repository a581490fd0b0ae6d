package flush

import (
	"io"
	"testing"

	"prejoin/pkg/bench/synthetic"
	"prejoin/pkg/export"
	"prejoin/pkg/readmodel"
)

// The variants differ in what they say they differ in.
func TestCadenceIsTheRowsBetweenFlushes(t *testing.T) {
	m, err := readmodel.Load("../../../readmodels/settlement.yaml")
	if err != nil {
		t.Fatal(err)
	}
	docs, err := synthetic.Documents(m, 2500)
	if err != nil {
		t.Fatal(err)
	}
	layout, err := export.NewLayout(m, export.Config{})
	if err != nil {
		t.Fatal(err)
	}
	f := func(cadence, want int) {
		t.Helper()
		w := &flushes{Writer: io.Discard}
		res, err := export.Stream(t.Context(), synthetic.NewRows(docs, batchRows), export.NewNDJSON(layout, false), w, options(cadence))
		if err != nil || res.Rows != 2500 || len(res.Reported) > 0 {
			t.Fatalf("the export gave %+v, %v", res, err)
		}
		if w.n < want || w.n > want+1 { // Stream flushes once more at the end
			t.Errorf("2,500 rows, %d a flush, were flushed %d times, not %d", cadence, w.n, want)
		}
	}
	f(1, 2500)
	f(100, 25)
	f(1000, 3)
}

type flushes struct {
	io.Writer
	n int
}

func (f *flushes) Flush() error { f.n++; return nil }
