package config

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/alecthomas/kong"
	"github.com/goccy/go-yaml"
)

// YAML is a kong.ConfigurationLoader: a file of flag names and values, one a
// line, such as "mongodb-db: prejoin". A name that no command has is an error.
func YAML(r io.Reader) (kong.Resolver, error) {
	values := map[string]any{}
	if err := yaml.NewDecoder(r).Decode(&values); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("reading the configuration file: %s", yaml.FormatError(err, false, true))
	}
	return file(values), nil
}

type file map[string]any

// Validate refuses a name that is not a flag of any command.
func (f file) Validate(app *kong.Application) error {
	known := flagNames(app.Node)
	for name := range f {
		if !slices.Contains(known, name) {
			return fmt.Errorf("the configuration file sets %q, which is no flag: see --help for the names", name)
		}
	}
	return nil
}

// Resolve gives the file's value where neither a flag nor the environment set one.
func (f file) Resolve(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	v, ok := f[flag.Name]
	if !ok || inEnvironment(flag) {
		return nil, nil
	}
	list, isList := v.([]any)
	if !isList {
		return scalar(flag.Name, v)
	}
	values := make([]any, len(list))
	for i := range list {
		var err error
		if values[i], err = scalar(flag.Name, list[i]); err != nil {
			return nil, err
		}
	}
	return values, nil // not joined: a flag may take commas as they are, as --shard does
}

func inEnvironment(flag *kong.Flag) bool {
	return slices.ContainsFunc(flag.Envs, func(name string) bool { return lookupEnv(name) })
}

// scalar is a value as it would stand behind a flag. The error does not repeat it, for it may be a DSN.
func scalar(name string, v any) (any, error) {
	switch v.(type) {
	case nil, []any, map[string]any, yaml.MapSlice:
		return nil, fmt.Errorf("the configuration file sets %s to what is neither a value nor a list of values: write it as on the command line", name)
	}
	return fmt.Sprint(v), nil
}

func flagNames(n *kong.Node) []string {
	var names []string
	for _, f := range n.Flags {
		names = append(names, f.Name)
	}
	for _, c := range n.Children {
		names = append(names, flagNames(c)...)
	}
	return names
}
