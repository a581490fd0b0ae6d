package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// withDaemons runs devstack with the real programs: those of the surrounding
// devstack exec, or freshly built ones.
func withDaemons(t *testing.T, args ...string) (r result) {
	t.Helper()
	cmd, folder := self(t, args...)
	cmd.Env = append(cmd.Env, "PREJOIN_BIN="+os.Getenv("PREJOIN_BIN"))
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	r.code = code(t, cmd.Run())
	r.stdout, r.stderr = stdout.String(), stderr.String()
	nothingLeft(t, folder)
	return r
}

// The whole way of the data: seed, capture, backfill, workload, verify, queryd.
func TestDemo(t *testing.T) {
	r := withDaemons(t, "demo", "--exit", "--settlements", "200", "--for", "2s")
	if r.code != 0 {
		t.Fatalf("status %d: %s%s", r.code, r.stdout, r.stderr)
	}
	for _, want := range []string{"0 missing, 0 extra, 0 different", "on shard0", "documents in settlement_v1", "export.xlsx?merchantId=1"} {
		if !strings.Contains(r.stdout, want) {
			t.Errorf("the screen lacks %q:\n%s", want, r.stdout)
		}
	}
	if strings.Contains(r.stdout+r.stderr, "pj_") {
		t.Error("the key is printed though nothing serves any more")
	}
}

// What exec promises its command: addresses, process ids and a key that work,
// and a read model that has caught up.
func TestExecWithDaemons(t *testing.T) {
	r := withDaemons(t, "exec", "--settlements", "200", "--", "sh", "-ec", `
		kill -0 $QUERYD_PID $PROJECTOR_PID $CAPTURE_PID
		curl -fsS "$QUERYD_ADMIN_URL/readyz" "$PROJECTOR_ADMIN_URL/readyz" >/dev/null
		curl -fsS -H "Authorization: Bearer $API_KEY" "$QUERYD_URL/v1/settlement/export.ndjson?merchantId=1" | grep -c '"merchantId":1,' >&2
		"$PREJOIN_BIN/projector" verify >&2
		kill -9 $PROJECTOR_PID
		exit 9`)
	if r.code != 9 || !strings.Contains(r.stderr, "0 missing, 0 extra, 0 different") {
		t.Errorf("status %d: %s", r.code, r.stderr)
	}
	if strings.Contains(r.stderr, "did not end") {
		t.Errorf("a daemon had to be killed: %s", r.stderr)
	}
}
