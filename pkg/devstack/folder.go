package devstack

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const (
	folderPrefix = "prejoin-stack-"
	lockName     = "lock"
)

// Folder is a stack's place for data, logs and secrets. It holds a file lock
// which the kernel lets go when this process dies, however it dies: that is how
// a later start knows a folder that nobody owns any more.
type Folder struct {
	Path string
	lock *os.File
}

// NewFolder sweeps what dead stacks left and makes a folder for this one.
func NewFolder() (*Folder, error) {
	base, err := temporary()
	if err != nil {
		return nil, err
	}
	sweep(base)
	path, err := os.MkdirTemp(base, folderPrefix)
	if err != nil {
		return nil, fmt.Errorf("making the stack's folder: %w", err)
	}
	f := &Folder{Path: path}
	if err := f.claim(); err != nil {
		os.RemoveAll(path)
		return nil, fmt.Errorf("locking the stack's folder %s: %w", path, err)
	}
	return f, nil
}

// claim locks under another name first: a folder without a lock file is being
// born and must not be swept.
func (f *Folder) claim() error {
	// An unprivileged server must reach its own data below.
	if err := os.Chmod(f.Path, 0o711); err != nil {
		return err
	}
	born := filepath.Join(f.Path, "lock.new")
	file, err := os.OpenFile(born, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		file.Close()
		return err
	}
	f.lock = file
	return os.Rename(born, filepath.Join(f.Path, lockName))
}

// File is a path in the folder.
func (f *Folder) File(name string) string { return filepath.Join(f.Path, name) }

// Remove deletes the folder. The servers in it must have ended; a grandchild that
// was killed a moment ago may still have made a file meanwhile.
func (f *Folder) Remove() error {
	defer f.lock.Close()
	var err error
	for range 20 {
		if err = os.RemoveAll(f.Path); err == nil {
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return fmt.Errorf("removing the stack's folder: %w; remove it by hand", err)
}

// temporary is TMPDIR, or /tmp where the unprivileged account could not enter it.
func temporary() (string, error) {
	base, err := filepath.Abs(os.TempDir())
	if err != nil {
		return "", err
	}
	if os.Geteuid() != 0 || enterable(base) {
		return base, nil
	}
	return "/tmp", nil
}

// enterable tells whether everybody may walk to path.
func enterable(path string) bool {
	for {
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm()&0o001 == 0 {
			return false
		}
		if path == "/" || path == "." {
			return true
		}
		path = filepath.Dir(path)
	}
}

// sweep removes the folders of dead stacks of this user. What cannot be removed
// now is left for the next time.
func sweep(base string) {
	entries, _ := os.ReadDir(base)
	for _, e := range entries {
		path := filepath.Join(base, e.Name())
		if e.IsDir() && strings.HasPrefix(e.Name(), folderPrefix) && mine(path) && dead(path) {
			os.RemoveAll(path)
		}
	}
}

func mine(path string) bool {
	info, err := os.Lstat(path)
	if err != nil {
		return false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}

func dead(path string) bool {
	file, err := os.OpenFile(filepath.Join(path, lockName), os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer file.Close()
	return syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}
