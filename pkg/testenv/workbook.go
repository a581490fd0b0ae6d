package testenv

import (
	"bufio"
	"bytes"
	_ "embed"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"prejoin/pkg/devstack"
)

// Cell is a workbook's cell as openpyxl, a reader that is not ours, sees it; a
// nil *Cell is an empty one. One of the fields is set.
type Cell struct {
	Bool   *bool   `json:"b"`
	Number *string `json:"n"` // its digits as Python writes the number
	Time   *string `json:"t"`
	Text   *string `json:"s"`
}

//go:embed workbook.py
var workbookScript string

const openpyxl = "openpyxl==3.1.5"

// withoutOpenpyxl names the variable that allows a run without the foreign reader.
const withoutOpenpyxl = "PREJOIN_WITHOUT_OPENPYXL"

// Workbook reads all rows of all sheets with openpyxl, in its mode "normal" or
// "read-only". A test without a foreign reader proves little: it fails where
// Python is missing, unless PREJOIN_WITHOUT_OPENPYXL=1 allows to skip it.
func Workbook(t testing.TB, book []byte, mode string) (rows [][]*Cell) {
	t.Helper()
	if os.Getenv(withoutOpenpyxl) == "1" {
		t.Skip("no foreign reader has checked the workbook, as " + withoutOpenpyxl + " allows")
	}
	if _, err := exec.LookPath("python3"); err != nil {
		t.Fatalf("looking for python3, whose openpyxl checks the workbook: %v; install python3 and python3-pip, or set %s=1 to do without", err, withoutOpenpyxl)
	}
	file := filepath.Join(t.TempDir(), "book.xlsx")
	if err := os.WriteFile(file, book, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("python3", "-c", workbookScript, file, mode) //nolint:gosec // our own script
	cmd.Env = append(os.Environ(), "PYTHONPATH="+openpyxlHome(t))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("openpyxl: %v: %s", err, stderr.String())
	}
	sc := bufio.NewScanner(bytes.NewReader(out))
	sc.Buffer(nil, 16<<20)
	for sc.Scan() {
		var row []*Cell
		if err := json.Unmarshal(sc.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	return rows
}

// openpyxlHome is a folder of the cache with openpyxl in it, filled on first use.
func openpyxlHome(t testing.TB) string {
	t.Helper()
	cache, err := devstack.CacheDir()
	if err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(cache, openpyxl)
	if _, err := os.Stat(home); err == nil {
		return home
	}
	fresh, err := os.MkdirTemp(cache, "openpyxl-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(fresh)
	say := func(line string) { t.Log(line) }
	if err := devstack.Pip(t.Context(), say, "install", "--quiet", "--target", fresh, openpyxl); err != nil {
		t.Fatalf("fetching %s: %v; see that pip reaches a package index, or set %s=1 to do without", openpyxl, err, withoutOpenpyxl)
	}
	if err := os.Rename(fresh, home); err != nil {
		if _, lost := os.Stat(home); lost != nil { // else another test process was first
			t.Fatal(err)
		}
	}
	return home
}
