package devstack

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Listens tells whether the process itself, not another one, listens on the port
// of 127.0.0.1. Where there is no /proc to ask it answers yes.
func (p *Process) Listens(port int) bool {
	table, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/tcp", p.PID()))
	if os.IsNotExist(err) {
		return !p.Ended()
	}
	inode := listener(string(table), port)
	return err == nil && inode != "" && holds(p.PID(), "socket:["+inode+"]")
}

// listener is the inode of the socket that listens on the port, or "".
func listener(table string, port int) string {
	const listens = "0A"
	address := fmt.Sprintf("0100007F:%04X", port)
	for line := range strings.Lines(table) {
		words := strings.Fields(line)
		if len(words) > 9 && words[1] == address && words[3] == listens {
			return words[9]
		}
	}
	return ""
}

func holds(pid int, file string) bool {
	open, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	for _, path := range open {
		if target, err := os.Readlink(path); err == nil && target == file {
			return true
		}
	}
	return false
}

// PortTaken tells whether the process ended because another one had its port.
func (p *Process) PortTaken() bool { return p.Ended() && portTaken(p.log) }
