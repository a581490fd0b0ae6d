package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"prejoin/pkg/plan"
	"prejoin/pkg/testenv"
)

// planned runs the subcommand against shards, without Kafka or MongoDB.
func planned(t *testing.T, c PlanCmd, model string, shards ...testenv.Shard) (string, error) {
	t.Helper()
	env := &Env{Settings: Settings{Model: []string{model}, Publication: "prejoin"}}
	for _, s := range shards {
		env.Shard = append(env.Shard, s.Name+"="+s.ProjectorDSN)
	}
	var stdout bytes.Buffer
	env.Stdout = &stdout
	err := c.Run(t.Context(), env)
	return stdout.String(), err
}

func TestPlanCommand(t *testing.T) {
	out, err := planned(t, PlanCmd{JSON: true}, "../../readmodels", testenv.Shards(t)...)
	if err != nil {
		t.Fatal(err)
	}
	var reports []plan.Report
	if err := json.Unmarshal([]byte(out), &reports); err != nil {
		t.Fatal(err)
	}
	if len(reports) != 2 || len(reports[0].Shards) != 2 || reports[1].Model != "settlement" || reports[1].Shards[1].Topics[0] != "shard1.public.settlement" {
		t.Errorf("got %s", out)
	}
}

// A refused model prints the whole plan and fails; a faulty file fails before.
func TestPlanCommandRefuses(t *testing.T) {
	shard := testenv.Postgres(t)
	good, err := os.ReadFile("../../readmodels/settlement.yaml")
	if err != nil {
		t.Fatal(err)
	}
	edited := func(from, to string) (string, error) {
		path := filepath.Join(t.TempDir(), "model.yaml")
		if err := os.WriteFile(path, bytes.ReplaceAll(good, []byte(from), []byte(to)), 0o600); err != nil {
			t.Fatal(err)
		}
		return planned(t, PlanCmd{}, path, shard)
	}
	out, err := edited("p.paid_at::timestamptz(3)", "p.paid_at")
	if !errors.Is(err, errRefused) || !strings.Contains(out, `REFUSED root: column "paidAt" is timestamp with time zone`) {
		t.Errorf("microseconds: %v\n%s", err, out)
	}
	out, err = edited("version: 1", "verison: 1")
	if err == nil || out != "" || !strings.Contains(err.Error(), `model.yaml:5:1: unknown key "verison" in the model; did you mean "version"?`) {
		t.Errorf("a typo: %v\n%s", err, out)
	}
}
