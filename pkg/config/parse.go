package config

import (
	"context"
	"errors"
	"io"

	"github.com/alecthomas/kong"
)

// ErrServed is returned by Parse where --help was asked for and printed.
var ErrServed = errors.New("the help was printed")

// Parse reads a program's arguments into grammar, kong's struct of commands, and
// returns what to run. A command gets ctx and what it is run with. Any other
// error than ErrServed is wrong usage.
func Parse(ctx context.Context, grammar any, args []string, stdout, stderr io.Writer, options ...kong.Option) (*kong.Context, error) {
	served := false
	options = append(options, kong.Writers(stdout, stderr), kong.Exit(func(int) { served = true }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}), kong.BindTo(ctx, (*context.Context)(nil)))
	parser, err := kong.New(grammar, options...)
	if err != nil {
		return nil, err
	}
	parsed, err := parser.Parse(args)
	if served {
		return nil, ErrServed
	}
	return parsed, err
}
