package devstack

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net"
)

// FreePort returns a port of 127.0.0.1 that nobody listens on at the moment.
// Another process may take it before the caller does; servers are then started
// again on another one.
func FreePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("looking for a free port on 127.0.0.1: %w", err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// Secret returns a password of 128 random bits.
func Secret() string {
	b := make([]byte, 16)
	_, _ = rand.Read(b) // never fails (crypto/rand)
	return hex.EncodeToString(b)
}
