package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// onTerminal tells whether devstack is in the foreground of a terminal. Then the
// command stays in its process group, or it could not read from the terminal and
// would not get its Ctrl-C.
func onTerminal() bool {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer tty.Close()
	group, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}
