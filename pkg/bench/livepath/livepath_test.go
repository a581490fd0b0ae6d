package livepath_test

import (
	"bytes"
	"strings"
	"testing"

	"prejoin/pkg/bench"
	"prejoin/pkg/bench/livepath"
	"prejoin/pkg/readmodel"
	"prejoin/pkg/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

// Every variant mends spoiled documents to the same bytes, else Run would
// refuse to time them, and each run writes every document once.
func TestTheBenchRunsOnRealServers(t *testing.T) {
	m, err := readmodel.Load("../../../readmodels/settlement.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var lines, table bytes.Buffer
	err = bench.Run(t.Context(), bench.Config{Rounds: 1, JSON: &lines, Table: &table}, []bench.Bench{livepath.New(m, 600)})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(lines.String(), `"rows":600,`); got != 4 {
		t.Errorf("a round of 4 variants gave %d lines of 600 rows:\n%s", got, lines.String())
	}
	t.Log(table.String())
}
