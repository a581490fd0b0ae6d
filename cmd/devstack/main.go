// Command devstack runs Prejoin's servers and daemons on this machine, for
// demonstration and tests. Nothing that it started outlives it.
//
//	up:    servers ─▶ schema ─▶ seed ─▶ capture ─▶ backfill ─▶ run, queryd ─▶ until Ctrl-C
//	exec:  the same ─▶ CMD with the environment ─▶ CMD's status
//	demo:  the same ─▶ workload ─▶ pause ─▶ verify ─▶ one screen ─▶ until Ctrl-C
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/alecthomas/kong"

	"prejoin/pkg/config"
)

// Exit statuses; exec returns its command's instead.
const (
	exitFailed = 1
	exitUsage  = 2
)

// cli has one field a subcommand, each with a file of its own name.
type cli struct {
	Up    UpCmd    `cmd:"" help:"Start everything, print the environment, serve until Ctrl-C."`
	Exec  ExecCmd  `cmd:"" help:"Start everything, run a command with the environment, stop everything, return its status."`
	Demo  DemoCmd  `cmd:"" help:"Start everything with 200,000 settlements, work, verify, show it on one screen, serve until Ctrl-C."`
	Seed  SeedCmd  `cmd:"" help:"Migrate shards and fill them with the sample's rows."`
	Load  LoadCmd  `cmd:"" help:"Change seeded shards as the company's applications would."`
	Bench BenchCmd `cmd:"" help:"Time variants of the same work against each other: JSON lines on stdout, a table on stderr."`
}

// Env is what a subcommand gets from main.
type Env struct {
	Stdout, Stderr io.Writer
}

// status ends devstack with an exit status that has been explained already.
type status int

func (s status) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

func main() {
	ctx, stop := untilSignal(context.Background())
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is main without the process: it parses args, runs the subcommand and
// returns the exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	parsed, err := config.Parse(ctx, &cli{}, args, stdout, stderr, kong.Name("devstack"),
		kong.Description("Runs Prejoin and its servers on this machine, for demonstration and tests."))
	if errors.Is(err, config.ErrServed) {
		return 0
	}
	if err != nil {
		return failed(stderr, err, exitUsage)
	}
	err = parsed.Run(&Env{Stdout: stdout, Stderr: stderr})
	if err == nil {
		return 0
	}
	if s, ok := errors.AsType[signalled](context.Cause(ctx)); ok {
		return 128 + int(s.Signal) // whatever else failed, failed by the signal
	}
	return failed(stderr, err, exitFailed)
}

func failed(stderr io.Writer, err error, code int) int {
	if s, ok := errors.AsType[status](err); ok {
		return int(s)
	}
	fmt.Fprintln(stderr, "devstack:", err)
	return code
}
