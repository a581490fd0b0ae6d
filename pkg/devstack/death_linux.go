package devstack

import "syscall"

// dieWithParent asks the kernel to end the child when its parent dies, even by
// SIGKILL. Go sets it after the change of user, which would clear it.
func dieWithParent(attr *syscall.SysProcAttr, sig syscall.Signal) {
	if sig == 0 {
		sig = syscall.SIGKILL
	}
	attr.Pdeathsig = sig
}
