// Command projector keeps the read model: it takes change events from Kafka,
// re-reads the documents that they touch from the shards, and writes them to
// MongoDB.
//
//	capture:  shard's slot ─▶ Kafka
//	run:      Kafka ─▶ decode ─▶ route ─▶ coalesce ─▶ re-read ─▶ write ─▶ commit
//	backfill: shard's ids ─────────────────────────▶ re-read ─▶ write
//	verify:   shard's ids ─────────────────────────▶ re-read ─▶ compare
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"

	"prejoin/pkg/config"
	"prejoin/pkg/logging"
)

// Exit statuses: 0 done, 1 failed or a difference was found, 2 wrong usage.
const (
	exitFailed = 1
	exitUsage  = 2
)

type cli struct {
	Settings

	Config kong.ConfigFlag `help:"A YAML file of flag names and values." placeholder:"FILE" env:"PROJECTOR_CONFIG"`

	Run      RunCmd      `cmd:"" help:"Keep the documents up to date from Kafka (a worker; start as many as you like)."`
	Capture  CaptureCmd  `cmd:"" help:"Publish the shards' changes to Kafka, in place of Debezium."`
	Backfill BackfillCmd `cmd:"" help:"Read every document of the shards and write it. Safe to run again."`
	Verify   VerifyCmd   `cmd:"" help:"Compare every document with the shards' SQL. Exits 1 on a difference."`
	Plan     PlanCmd     `cmd:"" help:"Show what a model file means on the shards and in MongoDB. Changes nothing."`
}

// Settings are the flags that every subcommand has.
type Settings struct {
	Shard       []string `help:"A shard as NAME=DSN; repeat it. Default: SHARD0_DSN, SHARD1_DSN, … of the environment." placeholder:"NAME=DSN" sep:"none"`
	Brokers     []string `help:"Kafka brokers as HOST:PORT." env:"KAFKA_BROKERS" placeholder:"HOST:PORT"`
	MongodbURI  string   `name:"mongodb-uri" help:"MongoDB's connection string." env:"MONGODB_URI" placeholder:"URI"`
	MongodbDb   string   `name:"mongodb-db" help:"The database that holds the documents." env:"MONGODB_DB" default:"prejoin"`
	Model       []string `help:"Model files, or folders of them." env:"READMODELS" default:"readmodels" placeholder:"PATH"`
	Publication string   `help:"The publication on each shard that the change events come from." default:"prejoin" env:"PUBLICATION" placeholder:"NAME"`
	LogFormat   string   `help:"text or json." enum:"text,json" default:"text" env:"LOG_FORMAT"`
	LogLevel    string   `help:"debug, info, warn or error." enum:"debug,info,warn,error" default:"info" env:"LOG_LEVEL"`
}

// Env is what a subcommand gets from main.
type Env struct {
	Settings
	Stdout, Stderr io.Writer
	Log            *slog.Logger
}

// Shards are the configured shards, sorted by name.
func (e *Env) Shards() ([]config.Shard, error) { return config.Shards(e.Shard, os.Environ()) }

// errDifferent ends a command that did its work and found a difference.
var errDifferent = errors.New("the documents differ from the shards")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is main without the process: it parses args, runs the subcommand and
// returns the exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	c := cli{}
	parsed, err := config.Parse(ctx, &c, args, stdout, stderr, kong.Name("projector"),
		kong.Description("Keeps pre-joined documents in MongoDB up to date with PostgreSQL shards."), kong.Configuration(config.YAML))
	if errors.Is(err, config.ErrServed) {
		return 0
	}
	if err != nil {
		return failed(stderr, err, exitUsage)
	}
	log, err := logging.New(logging.Config{Format: c.LogFormat, Level: c.LogLevel}, stderr)
	if err != nil {
		return failed(stderr, err, exitUsage)
	}
	if err := parsed.Run(&Env{Settings: c.Settings, Stdout: stdout, Stderr: stderr, Log: log}); err != nil {
		return failed(stderr, err, exitFailed)
	}
	return 0
}

func failed(stderr io.Writer, err error, code int) int {
	if !errors.Is(err, errDifferent) { // the report has said it
		fmt.Fprintln(stderr, "projector:", logging.RedactText(err.Error())) // an adapter's error may quote a DSN
	}
	return code
}
