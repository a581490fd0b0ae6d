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

// Workbook reads all rows of all sheets with openpyxl, in its mode "normal" or
// "read-only". It skips the test where Python is missing.
func Workbook(t testing.TB, book []byte, mode string) (rows [][]*Cell) {
	t.Helper()
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
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is missing, so no foreign reader has checked the workbook: install python3 and python3-pip")
	}
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
	out, err := exec.Command("python3", "-m", "pip", "install", "--quiet", "--target", fresh, openpyxl).CombinedOutput()
	if err != nil {
		t.Fatalf("fetching %s: %v: %s: install python3-pip", openpyxl, err, out)
	}
	if err := os.Rename(fresh, home); err != nil {
		if _, lost := os.Stat(home); lost != nil { // else another test process was first
			t.Fatal(err)
		}
	}
	return home
}
