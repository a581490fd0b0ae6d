package config

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Shard is one PostgreSQL shard by the name that its topics and documents carry.
type Shard struct {
	Name string
	DSN  string // a libpq URL or keyword string; it may hold a password, so it is never printed
}

var (
	shardName   = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,62}$`)
	shardEnvVar = regexp.MustCompile(`^SHARD([0-9]+)_DSN=(.+)$`)
)

// Shards returns the shards of the flags (NAME=DSN each) or, where there are
// none, of the environment's SHARD0_DSN, SHARD1_DSN, … (named shard0, shard1, …),
// sorted by name.
func Shards(flags, environ []string) ([]Shard, error) {
	shards, err := fromFlags(flags)
	if err != nil {
		return nil, err
	}
	if len(shards) == 0 {
		shards = fromEnviron(environ)
	}
	if len(shards) == 0 {
		return nil, errors.New("no shard is configured: give --shard NAME=DSN for each, or set SHARD0_DSN, SHARD1_DSN, …")
	}
	return sorted(shards)
}

func fromFlags(flags []string) ([]Shard, error) {
	var shards []Shard
	for _, f := range flags {
		name, dsn, ok := strings.Cut(f, "=")
		if !ok || !shardName.MatchString(name) || dsn == "" {
			return nil, errors.New("a --shard must read NAME=DSN with a name of a-z, 0-9, _ and -, such as shard0=postgres://…") // a DSN without a name may hold a password: it is not repeated
		}
		shards = append(shards, Shard{name, dsn})
	}
	return shards, nil
}

func fromEnviron(environ []string) []Shard {
	var shards []Shard
	for _, e := range environ {
		if m := shardEnvVar.FindStringSubmatch(e); m != nil {
			shards = append(shards, Shard{"shard" + m[1], m[2]})
		}
	}
	return shards
}

func sorted(shards []Shard) ([]Shard, error) {
	slices.SortFunc(shards, func(a, b Shard) int { return strings.Compare(a.Name, b.Name) })
	for i := 1; i < len(shards); i++ {
		if shards[i].Name == shards[i-1].Name {
			return nil, fmt.Errorf("shard %s is configured twice: give each shard a name of its own", shards[i].Name)
		}
	}
	return shards, nil
}
