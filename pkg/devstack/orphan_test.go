package devstack_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"prejoin/pkg/devstack"
)

const holderEnv = "PREJOIN_TEST_HOLDER"

// hold is a process of its own that starts a stack, tells the folder and waits
// to be killed. The tests below run their own binary as it.
func hold() {
	s, err := devstack.Start(context.Background(), devstack.Config{Shards: 1, Mongo: true})
	if err != nil {
		fmt.Println("failed:", err)
		os.Exit(1)
	}
	fmt.Println(s.Folder.Path)
	if os.Getenv(holderEnv) == "once" {
		if err := s.Stop(); err != nil {
			fmt.Println("failed:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	select {}
}

func holder(t *testing.T, binary, mode string, env ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(binary)
	cmd.Env = append(append(os.Environ(), holderEnv+"="+mode), env...)
	cmd.Stderr = os.Stderr
	return cmd
}

// running lists the processes whose command line names the folder.
func running(folder string) (pids []string) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err == nil && strings.Contains(string(text), folder) {
			pids = append(pids, filepath.Base(filepath.Dir(file)))
		}
	}
	return pids
}

func eventually(t *testing.T, limit time.Duration, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(limit); !is(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %v: %s", limit, what)
		}
	}
}

// kill -9 of the process that started the servers ends them, PostgreSQL's
// backends too, and the next start sweeps the folder.
func TestServersDieWithTheirStarter(t *testing.T) {
	self, err := os.Executable()
	must(t, err)
	cmd := holder(t, self, "wait")
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	folder, err := bufio.NewReader(out).ReadString('\n')
	must(t, err)
	folder = strings.TrimSpace(folder)
	if strings.HasPrefix(folder, "failed") {
		t.Fatal(folder)
	}
	servers := running(folder)
	backends := all(children(t, servers))
	if len(servers) != 2 || len(backends) == 0 {
		t.Fatalf("%d servers run in %s with %d backends, want 2 with some", len(servers), folder, len(backends))
	}
	must(t, cmd.Process.Kill())
	_ = cmd.Wait()
	eventually(t, 10*time.Second, "all servers are gone", func() bool { return len(running(folder)) == 0 && !exist(backends) })
	if _, err := os.Stat(folder); err != nil {
		t.Fatalf("the folder should wait for the next start: %v", err)
	}
	stop(t, start(t, devstack.Config{}))
	if _, err := os.Stat(folder); !os.IsNotExist(err) {
		t.Errorf("the dead stack's folder was not swept: %v", err)
	}
}

func children(t *testing.T, pids []string) (lists []string) {
	t.Helper()
	for _, pid := range pids {
		text, err := os.ReadFile("/proc/" + pid + "/task/" + pid + "/children")
		must(t, err)
		lists = append(lists, string(text))
	}
	return lists
}

func all(lists []string) []string { return strings.Fields(strings.Join(lists, " ")) }

func exist(pids []string) bool {
	for _, pid := range pids {
		if _, err := os.Stat("/proc/" + pid); err == nil {
			return true
		}
	}
	return false
}

// A living stack's folder is nobody's to sweep.
func TestSweepSparesTheLiving(t *testing.T) {
	a := start(t, devstack.Config{})
	stop(t, start(t, devstack.Config{}))
	if _, err := os.Stat(a.Folder.Path); err != nil {
		t.Errorf("a living stack's folder was swept: %v", err)
	}
}

// When one server cannot start, those that did are ended, nothing stays on disk
// and the message says what to do.
func TestFailedStartLeavesNothing(t *testing.T) {
	base := ownTmp(t)
	fake := filepath.Join(base, "mongod")
	// It passes the trial and fails only when the shard is up or nearly.
	must(t, os.WriteFile(fake, []byte("#!/bin/sh\n[ \"$1\" = --version ] && exit 0\nsleep 1; echo disk on fire; exit 3\n"), 0o755))
	t.Setenv("MONGOD", fake)
	_, err := devstack.Start(t.Context(), devstack.Config{Shards: 2, Mongo: true})
	if err == nil || !strings.Contains(err.Error(), "disk on fire") || !strings.Contains(err.Error(), "exit status 3") {
		t.Errorf("the error does not say why: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(base, "prejoin-stack-*")); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
	if pids := inside(base); len(pids) != 0 {
		t.Errorf("still running: %v", pids)
	}
}

// A start that is given up at any moment leaves nothing either.
func TestCancelledStartLeavesNothing(t *testing.T) {
	base := ownTmp(t)
	whole := devstack.Config{Shards: 2, Mongo: true}
	from := time.Now()
	s := start(t, whole)
	took := time.Since(from)
	if len(inside(base)) < 3 {
		t.Fatal("the servers of a whole start are not seen: the test is blind")
	}
	stop(t, s)
	for _, tenths := range []int{0, 3, 5, 7, 8, 9} {
		after := took * time.Duration(tenths) / 10
		ctx, cancel := context.WithTimeout(t.Context(), after)
		s, err := devstack.Start(ctx, whole)
		cancel()
		if err == nil {
			stop(t, s)
		}
		// What was killed with its whole group is reaped by init in a moment.
		eventually(t, 2*time.Second, fmt.Sprintf("nothing runs of a start given up after %v", after), func() bool { return len(inside(base)) == 0 })
		if left, _ := filepath.Glob(filepath.Join(base, "prejoin-stack-*")); len(left) != 0 {
			t.Errorf("after %v: left behind: %v", after, left)
		}
	}
}

// ownTmp makes a temporary folder of the test's own, which the unprivileged
// account can enter: stacks of other tests are elsewhere.
func ownTmp(t *testing.T) string {
	t.Helper()
	base := t.TempDir()
	for dir := base; dir != "/tmp" && dir != "/"; dir = filepath.Dir(dir) {
		must(t, os.Chmod(dir, 0o755))
	}
	t.Setenv("TMPDIR", base)
	return base
}

// inside lists the processes that have to do with the folder, whoever their
// parent is by now: their command line, environment (TMPDIR, PGDATA) or working
// folder names it. PostgreSQL's backends have only the last.
func inside(folder string) (pids []string) {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		line, _ := os.ReadFile(dir + "/cmdline")
		env, _ := os.ReadFile(dir + "/environ")
		cwd, _ := os.Readlink(dir + "/cwd")
		if strings.Contains(string(line)+string(env)+cwd, folder) {
			pids = append(pids, filepath.Base(dir)+" "+strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return pids
}

func TestMissingServersAreSaid(t *testing.T) {
	f := func(name, value, want string) {
		t.Helper()
		t.Setenv(name, value)
		_, err := devstack.Start(t.Context(), devstack.Config{Shards: 1, Mongo: true})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s=%s: %v, want %q", name, value, err, want)
		}
		t.Setenv(name, "")
	}
	f("PG_BIN", "/nowhere", "correct or unset PG_BIN")
	f("MONGOD", "/nowhere/mongod", "correct or unset MONGOD")
}

// An ordinary user gets the same servers, started as himself.
func TestAsOrdinaryUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("the other tests have shown it: this user is not root")
	}
	dir, err := os.MkdirTemp("/tmp", "ordinary-")
	must(t, err)
	defer os.RemoveAll(dir)
	must(t, os.Chmod(dir, 0o777))
	self, err := os.Executable()
	must(t, err)
	mongod, err := devstack.FindMongod(t.Context(), nil)
	must(t, err)
	copyFile(t, self, filepath.Join(dir, "test"))
	copyFile(t, mongod, filepath.Join(dir, "mongod"))
	cmd := holder(t, filepath.Join(dir, "test"), "once", "TMPDIR="+dir, "HOME="+dir, "MONGOD="+filepath.Join(dir, "mongod"))
	cmd.Dir = dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if !strings.HasPrefix(string(out), dir) || len(running(dir)) != 0 {
		t.Errorf("it said %q and left %v", out, running(dir))
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	in, err := os.Open(from)
	must(t, err)
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	must(t, err)
	_, err = io.Copy(out, in)
	must(t, err)
	must(t, out.Close())
}
