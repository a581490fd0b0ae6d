package readmodel_test

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"prejoin/pkg/readmodel"
)

var update = flag.Bool("update", false, "write the golden files anew")

// Each file of testdata is read; what a person would see is compared with the
// .golden beside it.
func TestErrorTexts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no test files: %v", err)
	}
	for _, path := range files {
		t.Run(filepath.Base(path), func(t *testing.T) { golden(t, path) })
	}
}

func golden(t *testing.T, path string) {
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	got := "valid\n"
	if _, err = readmodel.Parse(filepath.Base(path), text); err != nil {
		got = err.Error() + "\n"
	}
	file := strings.TrimSuffix(path, ".yaml") + ".golden"
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

// Errors come sorted, each with its place, and as the documented type.
func TestErrorsAreSortedAndPlaced(t *testing.T) {
	text, err := os.ReadFile("testdata/fields.yaml")
	if err != nil {
		t.Fatal(err)
	}
	_, err = readmodel.Parse("fields.yaml", text)
	var faults readmodel.Errors
	if !errors.As(err, &faults) || len(faults) < 10 {
		t.Fatalf("want many Errors, got %v", err)
	}
	lines := strings.Count(string(text), "\n") + 1
	for i, f := range faults {
		if f.Line < 1 || f.Line > lines || f.Column < 1 || f.File != "fields.yaml" {
			t.Errorf("fault without a place: %+v", f)
		}
		if i > 0 && faults[i-1].Line > f.Line {
			t.Errorf("fault %d stands before an earlier line: %+v", i, f)
		}
	}
}
