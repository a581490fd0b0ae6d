package devstack

import (
	"fmt"
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// Account is the unprivileged user that a server runs as when this process is
// root: PostgreSQL refuses to run as root. A nil Account is this process's own.
type Account struct{ UID, GID int }

// unprivileged returns nil when this process is not root.
func unprivileged() (*Account, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		if a := account(name); a != nil {
			return a, nil
		}
	}
	return nil, fmt.Errorf("PostgreSQL refuses to run as root and there is no user postgres or nobody: add one (useradd --system postgres) or run as another user")
}

func account(name string) *Account {
	u, err := user.Lookup(name)
	if err != nil {
		return nil
	}
	uid, err1 := strconv.Atoi(u.Uid)
	gid, err2 := strconv.Atoi(u.Gid)
	if err1 != nil || err2 != nil || uid == 0 {
		return nil
	}
	return &Account{UID: uid, GID: gid}
}

func (a *Account) credential() *syscall.Credential {
	if a == nil {
		return nil
	}
	return &syscall.Credential{Uid: uint32(a.UID), Gid: uint32(a.GID)}
}

// dir is a folder that the account can enter: it may be shut out of the one
// that this process works in (a root home).
func (a *Account) dir() string {
	if a == nil {
		return ""
	}
	return "/"
}

func (a *Account) own(path string) error {
	if a == nil {
		return nil
	}
	return os.Chown(path, a.UID, a.GID)
}
