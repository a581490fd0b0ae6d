// Command queryd serves the read model over HTTP.
//
//	serve:  request ─▶ key ─▶ parameters ─▶ find ─▶ view ─▶ encode ─▶ bytes
//	keys:   create, list and revoke the API keys that serve asks for
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
	"time"
	_ "time/tzdata" // time zones where the machine has none

	"github.com/alecthomas/kong"

	"prejoin/pkg/config"
	"prejoin/pkg/logging"
	"prejoin/pkg/mongodb"
)

// Exit statuses: 0 done, 1 failed, 2 wrong usage.
const (
	exitFailed = 1
	exitUsage  = 2
)

type cli struct {
	Settings

	Config kong.ConfigFlag `help:"A YAML file of flag names and values." placeholder:"FILE" env:"QUERYD_CONFIG"`

	Serve ServeCmd `cmd:"" default:"withargs" help:"Serve the API until stopped. The default command."`
	Keys  KeysCmd  `cmd:"" help:"Create, list and revoke API keys."`
}

// Settings are the flags that every subcommand has.
type Settings struct {
	MongodbURI string `name:"mongodb-uri" help:"MongoDB's connection string." env:"MONGODB_URI" placeholder:"URI"`
	MongodbDb  string `name:"mongodb-db" help:"The database that holds the documents." env:"MONGODB_DB" default:"prejoin"`
	LogFormat  string `help:"text or json." enum:"text,json" default:"text" env:"LOG_FORMAT"`
	LogLevel   string `help:"debug, info, warn or error." enum:"debug,info,warn,error" default:"info" env:"LOG_LEVEL"`
}

// Env is what a subcommand gets from main.
type Env struct {
	Settings
	Stdout, Stderr io.Writer
	Log            *slog.Logger
}

// Open connects to MongoDB and returns a function that closes. That takes two
// seconds at most: a server that has gone cannot be told that its sessions end.
func (e *Env) Open(ctx context.Context) (*mongodb.DB, func(), error) {
	db, err := mongodb.Open(ctx, mongodb.Config{URI: e.MongodbURI, Database: e.MongodbDb, AppName: "queryd"})
	return db, func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
		defer cancel()
		_ = db.Close(ctx)
	}, err
}

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
	parsed, err := config.Parse(ctx, &c, args, stdout, stderr, kong.Name("queryd"),
		kong.Description("Serves pre-joined documents as pages, NDJSON, CSV and Excel."), kong.Configuration(config.YAML))
	if errors.Is(err, config.ErrServed) {
		return 0
	}
	if err != nil {
		return failed(stderr, err, exitUsage)
	}
	env := &Env{Settings: c.Settings, Stdout: stdout, Stderr: stderr}
	env.Log, err = logging.New(logging.Config{Format: c.LogFormat, Level: c.LogLevel}, stderr)
	if err != nil {
		return failed(stderr, err, exitUsage)
	}
	if err := parsed.Run(env); err != nil {
		return failed(stderr, err, exitFailed)
	}
	return 0
}

func failed(stderr io.Writer, err error, code int) int {
	fmt.Fprintln(stderr, "queryd:", logging.RedactText(err.Error())) // an adapter's error may quote a DSN
	return code
}
