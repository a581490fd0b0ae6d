// Package config reads what both daemons share of their configuration: the
// shards, and a YAML file of flags below the environment.
//
// The order is flag, environment, file, default. It imports nothing of ours.
package config
