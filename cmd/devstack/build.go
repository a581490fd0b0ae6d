package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"prejoin/pkg/devstack"
)

// programs returns the folder of the daemons: $PREJOIN_BIN, or .cache/bin, into
// which they are built from this checkout.
func programs(ctx context.Context, say devstack.Progress) (string, error) {
	if dir := os.Getenv("PREJOIN_BIN"); dir != "" {
		return dir, present(dir)
	}
	root, err := devstack.SourceRoot()
	if err != nil {
		return "", err
	}
	cache, err := devstack.CacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "bin")
	cmd := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-o", dir+"/", "./cmd/projector", "./cmd/queryd")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building projector and queryd: %w\n%s", err, out)
	}
	say("projector and queryd are built in " + dir)
	return dir, nil
}

func present(dir string) error {
	for _, name := range []string{"projector", "queryd"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return fmt.Errorf("looking for %s in PREJOIN_BIN: %w; run make build and set PREJOIN_BIN to bin, or unset it", name, err)
		}
	}
	return nil
}
