package config

import (
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

func TestShards(t *testing.T) {
	f := func(flags, environ []string, want []Shard, wantErr string) {
		t.Helper()
		got, err := Shards(flags, environ)
		switch {
		case wantErr != "" && (err == nil || !strings.Contains(err.Error(), wantErr)):
			t.Errorf("%v: got %v, want %q", flags, err, wantErr)
		case wantErr == "" && (err != nil || !reflect.DeepEqual(got, want)):
			t.Errorf("%v: got %v (%v), want %v", flags, got, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("the error repeats a DSN: %v", err)
		}
	}
	environ := []string{"SHARD1_DSN=postgres://b", "PATH=/", "SHARD0_DSN=postgres://a?x=1"}
	f(nil, environ, []Shard{{"shard0", "postgres://a?x=1"}, {"shard1", "postgres://b"}}, "")
	f([]string{"kr=postgres://c?a=b,c"}, environ, []Shard{{"kr", "postgres://c?a=b,c"}}, "")
	f(nil, []string{"SHARD_DSN=x"}, nil, "no shard is configured")
	f([]string{"postgres://secret"}, nil, nil, "NAME=DSN")
	f([]string{"A=postgres://secret"}, nil, nil, "NAME=DSN")
	f([]string{"a=postgres://secret", "a=postgres://secret2"}, nil, nil, "configured twice")
}

type flags struct {
	Config kong.ConfigFlag
	Name   string   `env:"PREJOIN_TEST_NAME" default:"default"`
	List   []string `default:""`
	Shard  []string `sep:"none"`
}

func parsed(t *testing.T, file string, args ...string) (flags, error) {
	t.Helper()
	var c flags
	app, err := kong.New(&c, kong.Writers(io.Discard, io.Discard), kong.Exit(func(int) {}))
	if err != nil {
		t.Fatal(err)
	}
	resolver, err := YAML(strings.NewReader(file))
	if err != nil {
		return c, err
	}
	if err := resolver.Validate(app.Model); err != nil {
		return c, err
	}
	kong.Resolvers(resolver).Apply(app) //nolint:errcheck // it returns nil
	_, err = app.Parse(args)
	return c, err
}

// TestOrder: flag, environment, file, default.
func TestOrder(t *testing.T) {
	f := func(want, file string, args ...string) {
		t.Helper()
		if c, err := parsed(t, file, args...); err != nil || c.Name != want {
			t.Errorf("got %q (%v), want %q", c.Name, err, want)
		}
	}
	f("default", "")
	f("file", "name: file")
	f("flag", "name: file", "--name=flag")
	t.Setenv("PREJOIN_TEST_NAME", "environment")
	f("environment", "name: file")
	f("flag", "name: file", "--name=flag")
}

func TestFilesAreStrict(t *testing.T) {
	if c, err := parsed(t, "list: [a, b]"); err != nil || !reflect.DeepEqual(c.List, []string{"a", "b"}) {
		t.Errorf("got %v (%v)", c.List, err)
	}
	for _, file := range []string{"nmae: x", "name: [", "- a", "shard: {a: 'postgres://u:secret@h'}", "shard: [{a: 'postgres://u:secret@h'}]", "shard:"} {
		if _, err := parsed(t, file); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", file, err)
		}
	}
}

// TestAListOfShardsStaysAList: a DSN may hold commas, so --shard does not split at them, and its list must not be joined by them.
func TestAListOfShardsStaysAList(t *testing.T) {
	f := func(file string, want ...string) {
		t.Helper()
		if c, err := parsed(t, file); err != nil || !reflect.DeepEqual(c.Shard, want) {
			t.Errorf("%s: got %q (%v), want %q", file, c.Shard, err, want)
		}
	}
	f("shard: [shard0=postgres://a, 'shard1=postgres://b1,b2/x']", "shard0=postgres://a", "shard1=postgres://b1,b2/x")
	f("shard:\n  - shard0=postgres://a", "shard0=postgres://a")
	f("shard: shard0=postgres://a,b", "shard0=postgres://a,b")
	if c, err := parsed(t, "list: [1, x]"); err != nil || !reflect.DeepEqual(c.List, []string{"1", "x"}) {
		t.Errorf("got %q (%v)", c.List, err)
	}
}
