package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"prejoin/pkg/devstack"
)

// serveReady is a daemon that does nothing but be ready.
func serveReady() {
	_ = http.ListenAndServe(os.Getenv("TEST_ADMIN_ADDR"), http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	os.Exit(1)
}

// withProgram has a daemon in its folder that is a shell script.
func withProgram(t *testing.T, script string) *local {
	t.Helper()
	folder, err := devstack.NewFolder()
	must(t, err)
	t.Cleanup(func() { must(t, folder.Remove()) })
	must(t, os.WriteFile(filepath.Join(folder.Path, "fake"), []byte("#!/bin/sh\n"+script), 0o755))
	return &local{progress: newProgress(io.Discard), stack: &devstack.Stack{Folder: folder}, bin: folder.Path}
}

// A daemon whose port was taken in the meantime is started again on another.
func TestATakenPortIsTriedAgain(t *testing.T) {
	self, err := os.Executable()
	must(t, err)
	l := withProgram(t, `
		echo "$TEST_ADMIN_ADDR" >>"$TRIES"
		[ $(wc -l <"$TRIES") -gt 2 ] && exec "$SELF"
		echo "listen tcp $TEST_ADMIN_ADDR: bind: address already in use" >&2; exit 1`)
	tries := l.stack.Folder.File("tries")
	env := append(os.Environ(), "PREJOIN_TEST_DAEMON=1", "SELF="+self, "TRIES="+tries)
	d, err := l.startDaemon(t.Context(), program{"fake", []string{"fake"}, env, []string{"TEST_ADMIN_ADDR"}})
	must(t, err)
	d.Kill()
	text, err := os.ReadFile(tries)
	must(t, err)
	lines := strings.Fields(string(text))
	if len(lines) != 3 || lines[0] == lines[1] || d.admin != "http://"+lines[2] {
		t.Errorf("%v were tried, %s is said", lines, d.admin)
	}
}

// Another failure is told at once, and is not taken for a port.
func TestAnotherFailureIsNotTriedAgain(t *testing.T) {
	l := withProgram(t, `echo "no such model" >&2; exit 1`)
	_, err := l.startDaemon(t.Context(), program{"fake", []string{"fake"}, os.Environ(), []string{"TEST_ADMIN_ADDR"}})
	if err == nil || !strings.Contains(err.Error(), "no such model") {
		t.Errorf("%v", err)
	}
}

// The 200 of another process on the port is not the daemon's.
func TestAnothersReadinessIsNotOurs(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer other.Close()
	l := withProgram(t, "exec sleep 60")
	p, err := devstack.Launch(devstack.Command{Name: "fake", Path: l.program("fake"), Log: l.stack.Folder.File("log")})
	must(t, err)
	defer p.Kill()
	d := &daemon{Process: p, admin: other.URL, ports: []int{other.Listener.Addr().(*net.TCPAddr).Port}}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if err := d.awaitReady(ctx); err == nil {
		t.Error("a daemon that listens nowhere is called ready")
	}
}
