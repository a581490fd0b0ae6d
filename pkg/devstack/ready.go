package devstack

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"
)

// ErrPortTaken says that somebody took the port between FreePort and the server's start.
var ErrPortTaken = errors.New("the port was taken by another process")

// anyPort runs start with a free port, again with others while it was taken.
func anyPort(start func(port int) error) error {
	var err error
	for range 5 {
		var port int
		if port, err = FreePort(); err != nil {
			return err
		}
		if err = start(port); !errors.Is(err, ErrPortTaken) {
			return err
		}
	}
	return err
}

// listening waits until the server accepts connections.
func listening(ctx context.Context, p *Process, port int) error {
	address := fmt.Sprintf("127.0.0.1:%d", port)
	for {
		conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "tcp", address)
		if err == nil {
			conn.Close()
			return nil
		}
		if !p.pause(ctx, 20*time.Millisecond) {
			return unready(ctx, p, err)
		}
	}
}

// unready says why a server that was waited for will not come. last is the
// latest failure to reach it.
func unready(ctx context.Context, p *Process, last error) error {
	if p.Ended() {
		if portTaken(p.log) {
			return ErrPortTaken
		}
		return p.Died()
	}
	return fmt.Errorf("waiting for %s: %w (%s); its last lines:\n%s", p.Name, context.Cause(ctx), fmt.Sprint(last), p.Tail())
}

func portTaken(log string) bool {
	text := strings.ToLower(Tail(log, 30))
	return strings.Contains(text, "address already in use") || strings.Contains(text, "addressinuse")
}
