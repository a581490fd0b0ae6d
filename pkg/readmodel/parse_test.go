package readmodel_test

import (
	"testing"

	"prejoin/pkg/readmodel"
)

// The bundled models must load, as the daemons load them.
func TestBundledModels(t *testing.T) {
	models, err := readmodel.LoadAll("../../readmodels")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range models {
		if m.Text == "" || len(m.Shape) != 64 {
			t.Errorf("model %s has no text or shape", m.Name)
		}
	}
}
