package main

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"
)

func TestKeysCreatePrintsOnlyTheKey(t *testing.T) {
	h := newHouse(t)
	out, errs, code := h.tool(t, "keys", "create", "--name", "이름", "--scope", `merchant=1,2`, "--scope", `code="007",A,"a,b"`)
	if code != 0 || !regexp.MustCompile(`^pj_[a-z0-9]{12}_[A-Za-z0-9_-]{43}\n$`).MatchString(out) {
		t.Errorf("%d %q", code, out)
	}
	if strings.Contains(errs, strings.TrimSpace(out)) {
		t.Error("the key is on stderr too, where logs are made")
	}
	k, err := h.db.Keys(t.Context())
	if err != nil || len(k) != 1 || k[0].Scopes["merchant"][1] != int64(2) || k[0].Scopes["code"][0] != "007" || k[0].Scopes["code"][1] != "A" || k[0].Scopes["code"][2] != "a,b" {
		t.Errorf("%+v %v", k, err)
	}
}

func TestKeysCreateRefusals(t *testing.T) {
	h := newHouse(t)
	f := func(code int, words string, args ...string) {
		t.Helper()
		out, errs, got := h.tool(t, append([]string{"keys", "create"}, args...)...)
		if got != code || out != "" || !strings.Contains(errs, words) || strings.Count(errs, "\n") != 1 {
			t.Errorf("%v: %d %q %q", args, got, out, errs)
		}
	}
	f(2, "--name", "--all")
	f(1, "give --all, or", "--name", "x")
	f(1, "give --all, or", "--name", "x", "--all", "--merchant", "1")
	f(1, "NAME=VALUE", "--name", "x", "--scope", "merchant")
	f(1, "NAME=VALUE", "--name", "x", "--scope", "$where=1")
	f(1, "NAME=VALUE", "--name", "x", "--scope", "all=1")
	f(1, "no value", "--name", "x", "--scope", "merchant=1,,2")
	f(1, "no value", "--name", "x", "--merchant", "99999999999999999999")
	f(1, "no value", "--name", "x", "--scope", "merchant=1,")
	f(1, "no closing quote", "--name", "x", "--scope", `code="a,b`)
	f(1, "outside of its quotes", "--name", "x", "--scope", `code="a"b`)
	f(1, "outside of its quotes", "--name", "x", "--scope", `code=a"b,c"`)
	f(1, "given twice", "--name", "x", "--merchant", "1", "--scope", "merchant=2")
}

func TestKeysListAndRevoke(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.fill(t, 3)
	q := h.serve(t)
	key := h.key(t, "--all")
	h.key(t, "--merchant", "1,2,3,4,5,6,7")
	if answer, _ := q.get(t, key, "/v1/settlement"); answer.StatusCode != http.StatusOK {
		t.Fatal(answer.StatusCode)
	}
	id := strings.Split(key, "_")[1]
	if _, errs, code := h.tool(t, "keys", "revoke", id); code != 0 {
		t.Fatal(errs)
	}
	out, _, _ := h.tool(t, "keys", "list")
	if strings.Count(out, "\n") != 3 || !strings.Contains(out, id) || !strings.Contains(out, "merchant=1,2,3,4,5,… (7)") || strings.Contains(out, strings.Split(key, "_")[2]) {
		t.Errorf("%s", out)
	}
	out, _, _ = h.tool(t, "keys", "list", "--json")
	var list []listed
	if err := json.Unmarshal([]byte(out), &list); err != nil || len(list) != 2 {
		t.Errorf("%v %s", err, out)
	}
	for deadline := time.Now().Add(6 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		answer, _ := q.get(t, key, "/v1/settlement")
		if answer.StatusCode == http.StatusUnauthorized && answer.Header.Get("WWW-Authenticate") != "" {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("a revoked key still works after 6 s")
		}
	}
	if _, errs, code := h.tool(t, "keys", "revoke", "nonesuch"); code != 1 || !strings.Contains(errs, "keys list shows") {
		t.Errorf("%d %s", code, errs)
	}
}
