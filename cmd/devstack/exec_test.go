package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The tests run their own binary as devstack.
func TestMain(m *testing.M) {
	if os.Getenv("PREJOIN_TEST_DEVSTACK") != "" {
		main()
	}
	if os.Getenv("PREJOIN_TEST_DAEMON") != "" {
		serveReady()
	}
	os.Exit(m.Run())
}

type result struct {
	code           int
	stdout, stderr string
}

// self prepares a devstack whose temporary folder is the test's own, so
// that what it leaves behind can be told from the work of others.
func self(t *testing.T, args ...string) (cmd *exec.Cmd, folder string) {
	t.Helper()
	binary, err := os.Executable()
	must(t, err)
	folder, err = os.MkdirTemp("/tmp", "exec-")
	must(t, err)
	must(t, os.Chmod(folder, 0o755))
	t.Cleanup(func() { os.RemoveAll(folder) })
	for _, name := range []string{"projector", "queryd"} {
		must(t, os.WriteFile(filepath.Join(folder, name), nil, 0o755))
	}
	cmd = exec.Command(binary, args...)
	cmd.Env = append(os.Environ(), "PREJOIN_TEST_DEVSTACK=1", "TMPDIR="+folder, "PREJOIN_BIN="+folder)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // away from the terminal
	return cmd, folder
}

func whole(t *testing.T, args ...string) (r result) {
	t.Helper()
	cmd, folder := self(t, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	r.code = code(t, cmd.Run())
	r.stdout, r.stderr = stdout.String(), stderr.String()
	nothingLeft(t, folder)
	return r
}

func code(t *testing.T, err error) int {
	t.Helper()
	if err == nil {
		return 0
	}
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok {
		t.Fatal(err)
	}
	return exit.ExitCode()
}

func nothingLeft(t *testing.T, folder string) {
	t.Helper()
	if left, _ := filepath.Glob(filepath.Join(folder, "prejoin-stack-*")); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
	if pids := running(folder); len(pids) != 0 {
		t.Errorf("still running: %v", pids)
	}
}

// running lists the processes whose command line or environment names the folder.
func running(folder string) (pids []string) {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		line, _ := os.ReadFile(dir + "/cmdline")
		env, _ := os.ReadFile(dir + "/environ")
		if strings.Contains(string(line)+string(env), folder) {
			pids = append(pids, filepath.Base(dir)+" "+strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return pids
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestExecReturnsTheCommandsStatus(t *testing.T) {
	r := whole(t, "exec", "--bare", "--settlements", "50", "--", "sh", "-c", `
		for v in SHARD0_DSN SHARD1_DSN KAFKA_BROKERS MONGODB_URI MONGODB_DB PREJOIN_BIN; do
			eval "test -n \"\$$v\"" || { echo "$v is not set"; exit 1; }
		done
		test -z "$QUERYD_URL" || exit 1
		sleep 600 & # left in the background: it must not outlive devstack
		exit 42`)
	if r.code != 42 {
		t.Errorf("status %d, want 42: %s%s", r.code, r.stdout, r.stderr)
	}
	if !strings.Contains(r.stderr, "seeded shard0 with") {
		t.Errorf("nothing was seeded: %s", r.stderr)
	}
}

func TestWrongUsage(t *testing.T) {
	f := func(code int, want string, args ...string) {
		t.Helper()
		r := whole(t, args...)
		if r.code != code || !strings.Contains(r.stderr, want) || strings.Contains(r.stderr, "goroutine") {
			t.Errorf("%v: status %d, %q; want %d, %q", args, r.code, r.stderr, code, want)
		}
	}
	f(2, "expected", "exec", "--bare")
	f(2, "unknown flag", "exec", "--settlement=5", "--", "true")
	f(2, "unexpected argument", "down")
	f(1, "give a program on PATH", "exec", "--bare", "--", "no-such-program")
}

// started runs devstack in the background and returns when its stderr holds mark.
func started(t *testing.T, mark string, args ...string) (*exec.Cmd, string) {
	t.Helper()
	cmd, folder := self(t, args...)
	// A file, not a pipe: a child that outlived devstack would keep a pipe open.
	r, w, err := os.Pipe()
	must(t, err)
	cmd.Stderr = w
	must(t, cmd.Start())
	w.Close()
	t.Cleanup(func() { r.Close() })
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		if strings.Contains(lines.Text(), mark) {
			go func() { _, _ = io.Copy(io.Discard, r) }()
			return cmd, folder
		}
	}
	t.Fatalf("devstack ended before %q", mark)
	return nil, ""
}

func TestSignalsEndEverything(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(sig.String(), func(t *testing.T) {
			cmd, folder := started(t, "running sh", "exec", "--bare", "--settlements", "0", "--", "sh", "-c", "sleep 600; true")
			time.Sleep(200 * time.Millisecond)
			must(t, cmd.Process.Signal(sig))
			if c := code(t, cmd.Wait()); c != 128+int(sig) {
				t.Errorf("status %d, want %d", c, 128+int(sig))
			}
			nothingLeft(t, folder)
		})
	}
}

// A signal while the servers start gives the start up.
func TestSignalDuringStart(t *testing.T) {
	for range 4 {
		after := time.Duration(200+rand.IntN(1200)) * time.Millisecond
		cmd, folder := self(t, "exec", "--bare", "--settlements", "5000", "--", "sleep", "600")
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		must(t, cmd.Start())
		time.Sleep(after)
		must(t, cmd.Process.Signal(syscall.SIGINT))
		if c := code(t, cmd.Wait()); c != 130 {
			t.Errorf("interrupted after %v: status %d, want 130: %s", after, c, &stderr)
		}
		nothingLeft(t, folder)
	}
}

// kill -9 of devstack ends the servers and the command.
func TestKillEndsEverything(t *testing.T) {
	cmd, folder := started(t, "running sleep", "exec", "--bare", "--settlements", "0", "--", "sleep", "600")
	must(t, cmd.Process.Kill())
	_ = cmd.Wait()
	for end := time.Now().Add(10 * time.Second); len(running(folder)) > 0; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("still running: %v", running(folder))
		}
	}
}

func TestUpServesUntilCtrlC(t *testing.T) {
	cmd, folder := started(t, "ready", "up", "--bare", "--settlements", "0")
	must(t, cmd.Process.Signal(syscall.SIGINT))
	if c := code(t, cmd.Wait()); c != 0 {
		t.Errorf("status %d after Ctrl-C, want 0", c)
	}
	nothingLeft(t, folder)
}
