package devstack

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
)

// FindPostgreSQL returns the folder of initdb and postgres: $PG_BIN, the one on
// PATH, the newest of the distribution's, or one installed by apt-get as root.
func FindPostgreSQL(ctx context.Context, say Progress) (string, error) {
	if dir := os.Getenv("PG_BIN"); dir != "" {
		if !hasServer(dir) {
			return "", fmt.Errorf("looking for PostgreSQL: PG_BIN=%s holds no initdb and postgres; correct or unset PG_BIN", dir)
		}
		return dir, nil
	}
	if dir, ok := installedPostgreSQL(); ok {
		return dir, nil
	}
	if err := installPostgreSQL(ctx, say); err != nil {
		return "", err
	}
	if dir, ok := installedPostgreSQL(); ok {
		return dir, nil
	}
	return "", fmt.Errorf("looking for PostgreSQL: apt-get installed none under /usr/lib/postgresql; set PG_BIN to the folder of initdb")
}

func installedPostgreSQL() (string, bool) {
	if path, err := exec.LookPath("initdb"); err == nil && hasServer(filepath.Dir(path)) {
		return filepath.Dir(path), true
	}
	dirs, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	slices.SortFunc(dirs, func(a, b string) int { return version(b) - version(a) })
	for _, dir := range dirs {
		if hasServer(dir) {
			return dir, true
		}
	}
	return "", false
}

// version reads 15 out of /usr/lib/postgresql/15/bin.
func version(dir string) int {
	n, _ := strconv.Atoi(filepath.Base(filepath.Dir(dir)))
	return n
}

func hasServer(dir string) bool {
	for _, name := range []string{"initdb", "postgres"} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Mode()&0o111 == 0 {
			return false
		}
	}
	return true
}

func installPostgreSQL(ctx context.Context, say Progress) error {
	if os.Geteuid() == 0 {
		if err := noMainCluster(); err != nil {
			return fmt.Errorf("preparing to install PostgreSQL: %w", err)
		}
	}
	return aptInstall(ctx, say, "PostgreSQL", "postgresql")
}

// noMainCluster keeps Debian's package from starting a cluster on port 5432. A
// configuration that is already there is the machine owner's and stays.
func noMainCluster() error {
	const path = "/etc/postgresql-common/createcluster.conf"
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte("create_main_cluster = false\n"), 0o644)
}
