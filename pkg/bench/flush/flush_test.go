package flush_test

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"prejoin/pkg/bench"
	"prejoin/pkg/bench/flush"
	"prejoin/pkg/readmodel"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// All cadences yield the same bytes, else Run would refuse to time them. The
// last batch and the last flush are not full.
func TestTheBenchRunsOnTheBundledModel(t *testing.T) {
	m, err := readmodel.Load("../../../readmodels/settlement.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var lines, table bytes.Buffer
	cfg := bench.Config{Rounds: 1, JSON: &lines, Table: &table}
	if err := bench.Run(t.Context(), cfg, []bench.Bench{flush.New(m, 2500)}); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(lines.String(), "\n"); got != 4 {
		t.Errorf("a round of 3 variants and a summary gave %d lines:\n%s", got, lines.String())
	}
	if !strings.Contains(lines.String(), `"rows":2500,"bytes":`) {
		t.Errorf("the rows or bytes are missing:\n%s", lines.String())
	}
}

func TestAModelThatCannotBeLaidOutIsAnError(t *testing.T) {
	empty := &readmodel.Model{Name: "empty"}
	err := bench.Run(t.Context(), bench.Config{Rounds: 1, JSON: io.Discard, Table: io.Discard}, []bench.Bench{flush.New(empty, 1)})
	if err == nil {
		t.Fatal("a model without fields was timed")
	}
}
