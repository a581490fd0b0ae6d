// Command composecheck loads a Compose file as `docker compose config` would,
// with the loader and the schema of the Compose specification, without an
// engine. It prints the services in order of start, or what is wrong.
//
//	composecheck docker-compose.yml .env.example
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
)

func main() {
	if err := run(context.Background(), os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "composecheck:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdout io.Writer) error {
	if len(args) != 2 {
		return fmt.Errorf("give a Compose file and a file of variables, not %d arguments", len(args))
	}
	options, err := cli.NewProjectOptions(args[:1],
		cli.WithWorkingDirectory(filepath.Dir(args[0])),
		cli.WithEnvFiles(args[1]), cli.WithDotEnv)
	if err != nil {
		return fmt.Errorf("reading %s: %w", args[1], err)
	}
	project, err := options.LoadProject(ctx)
	if err != nil {
		return fmt.Errorf("loading %s: %w", args[0], err)
	}
	return project.ForEachService(nil, func(name string, s *types.ServiceConfig) error {
		_, err := fmt.Fprintf(stdout, "%s\t%s\n", name, s.Image)
		return err
	})
}
