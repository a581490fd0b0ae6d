package config

import "os"

func lookupEnv(name string) bool {
	_, ok := os.LookupEnv(name)
	return ok
}
