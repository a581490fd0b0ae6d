package readmodel

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Load reads one model file. Faults of its text are of type Errors.
func Load(path string) (*Model, error) {
	text, err := readFile(path)
	if err != nil {
		return nil, err
	}
	return Parse(path, text)
}

func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading the model file: %w; name a file or folder of models", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, MaxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("reading the model file %s: %w", path, err)
	}
	return text, nil
}

// LoadAll reads model files and folders (their *.yaml and *.yml files, not
// deeper), in the order of their names. All faults of all files are returned
// together, as Errors. No two files may hold the same model.
func LoadAll(paths ...string) ([]*Model, error) {
	var models []*Model
	var faults Errors
	first := map[string]string{}
	files, err := modelFiles(paths)
	if err != nil {
		return nil, err
	}
	for _, path := range files {
		m, err := Load(path)
		if errs := (Errors)(nil); errors.As(err, &errs) {
			faults = append(faults, errs...)
			continue
		} else if err != nil {
			return nil, err
		}
		if other := first[m.Name]; other != "" {
			faults = append(faults, Error{File: path, Line: 1, Column: 1, Message: fmt.Sprintf("model %q is also in %s; rename or remove one", m.Name, other)})
		}
		first[m.Name] = path
		models = append(models, m)
	}
	if len(faults) > 0 {
		return nil, faults
	}
	return models, nil
}

func modelFiles(paths []string) ([]string, error) {
	var files []string
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return nil, fmt.Errorf("finding the models: %w; name a file or folder of models", err)
		}
		if !info.IsDir() {
			files = append(files, path)
			continue
		}
		entries, err := os.ReadDir(path)
		if err != nil {
			return nil, fmt.Errorf("reading the model folder: %w", err)
		}
		for _, e := range entries {
			if !e.IsDir() && isModel(e.Name()) {
				files = append(files, filepath.Join(path, e.Name()))
			}
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("no model files (*.yaml) in %s; write one, see docs/model.md", strings.Join(paths, ", "))
	}
	slices.Sort(files)
	return slices.Compact(files), nil
}

func isModel(name string) bool {
	ext := filepath.Ext(name)
	return !strings.HasPrefix(name, ".") && (ext == ".yaml" || ext == ".yml")
}
