//go:build !linux

package devstack

import "syscall"

// dieWithParent does nothing where the kernel has no such signal: after a
// kill -9 of the devstack its servers must be ended by hand there.
func dieWithParent(*syscall.SysProcAttr, syscall.Signal) {}
