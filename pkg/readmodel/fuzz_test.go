package readmodel_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"prejoin/pkg/readmodel"
)

// Any text gives either a model or placed faults, never a panic, and no text
// costs long.
func FuzzParse(f *testing.F) {
	for _, pattern := range []string{"testdata/*.yaml", "../../readmodels/*.yaml"} {
		files, _ := filepath.Glob(pattern)
		for _, path := range files {
			text, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(text)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		start := time.Now()
		checkParse(t, text)
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("%d bytes took %s", len(text), took)
		}
	})
}

func checkParse(t *testing.T, text []byte) {
	t.Helper()
	m, err := readmodel.Parse("x.yaml", text)
	var faults readmodel.Errors
	switch {
	case err == nil && (m == nil || m.Shape == "" || m.Field(m.ID) == nil || len(m.Access) == 0):
		t.Errorf("accepted an incomplete model: %+v", m)
	case err != nil && (m != nil || !errors.As(err, &faults) || len(faults) == 0 || len(faults) > 51):
		t.Errorf("want 1 to 51 faults and no model, got %v", err)
	}
	if err == nil {
		again, err := readmodel.Parse("y.yaml", []byte(m.Text))
		if err != nil || again.Shape != m.Shape {
			t.Errorf("a stored text does not parse to the same shape: %v", err)
		}
	}
}
