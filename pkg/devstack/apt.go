package devstack

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
	"time"
)

// Progress gets one line at a time about work that takes a while. nil is silent.
type Progress func(line string)

func (p Progress) say(format string, args ...any) {
	if p != nil {
		p(fmt.Sprintf(format, args...))
	}
}

// aptInstall installs Debian packages when this process is root; otherwise it
// says which command would. why names what they are for.
func aptInstall(ctx context.Context, say Progress, why string, packages ...string) error {
	list := strings.Join(packages, " ")
	if os.Geteuid() != 0 || !onPath("apt-get") {
		return fmt.Errorf("%s is missing: install it (Debian: sudo apt-get update && sudo apt-get install -y %s)", why, list)
	}
	cache, err := CacheDir()
	if err != nil {
		return err
	}
	say.say("installing %s by apt-get", list)
	// Two at a time find dpkg locked: PostgreSQL and libcurl4 are looked for side by side.
	err = exclusive(ctx, filepath.Join(cache, "apt.lock"), func() error { return aptGet(ctx, say, packages) })
	if err != nil {
		return fmt.Errorf("installing %s: %w; run apt-get install %s and look", why, err, list)
	}
	return nil
}

func aptGet(ctx context.Context, say Progress, packages []string) error {
	if err := run(ctx, say, "apt-get", "update", "-qq"); err != nil {
		return err
	}
	args := []string{"install", "-y", "-qq", "--no-install-recommends", "-o", "DPkg::Lock::Timeout=300"}
	return run(ctx, say, "apt-get", append(args, packages...)...)
}

func onPath(name string) bool {
	_, err := exec.LookPath(name)
	return err == nil
}

// run runs a tool to its end and passes its lines on; a failure carries the
// last of them.
func run(ctx context.Context, say Progress, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive", "LC_ALL=C.UTF-8")
	// A package manager that is killed leaves a broken machine behind: it is asked
	// to end, out of reach of the terminal's Ctrl-C.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = time.Minute
	r, w := io.Pipe()
	cmd.Stdout, cmd.Stderr = w, w
	last := make(chan string, 1)
	go func() { last <- relay(say, filepath.Base(name), r) }()
	err := cmd.Run()
	w.Close()
	line := <-last
	if err != nil {
		return fmt.Errorf("running %s %s: %w (%s)", name, args[0], err, line)
	}
	return nil
}

// relay passes on the lines of r and returns the last one.
func relay(say Progress, name string, r io.Reader) string {
	var last string
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		if line := strings.TrimSpace(lines.Text()); line != "" {
			last = line
			say.say("  %s: %s", name, line)
		}
	}
	_, _ = io.Copy(io.Discard, r) // a line too long must not block the tool
	return last
}
