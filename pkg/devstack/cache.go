package devstack

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// CacheDir is where fetched servers and built programs are kept: $PREJOIN_CACHE,
// else .cache beside Prejoin's go.mod, else the user's cache folder.
func CacheDir() (string, error) {
	if dir := os.Getenv("PREJOIN_CACHE"); dir != "" {
		return dir, os.MkdirAll(dir, 0o755)
	}
	if root, err := SourceRoot(); err == nil {
		dir := filepath.Join(root, ".cache")
		return dir, os.MkdirAll(dir, 0o755)
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("finding a cache folder: %w; set PREJOIN_CACHE", err)
	}
	dir = filepath.Join(dir, "prejoin")
	return dir, os.MkdirAll(dir, 0o755)
}

// SourceRoot is the folder of Prejoin's go.mod, at or above the working folder.
func SourceRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("finding the working folder: %w", err)
	}
	for ; ; dir = filepath.Dir(dir) {
		text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && strings.HasPrefix(string(text), "module prejoin\n") {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("finding Prejoin's go.mod: not in this folder nor above it; run in a checkout of Prejoin or set PREJOIN_BIN")
		}
	}
}

// exclusive runs do while no other process does the same: two test binaries
// that start together fetch once.
func exclusive(ctx context.Context, lock string, do func() error) error {
	f, err := os.OpenFile(lock, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("opening the lock: %w", err)
	}
	defer f.Close()
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return do()
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("waiting for another process that holds %s: %w", lock, context.Cause(ctx))
		}
	}
}
