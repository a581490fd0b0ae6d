package devstack

import (
	"bytes"
	"io"
	"os"
)

// Tail returns the last n lines of a file, or a note that there are none. It
// reads no more than the last 64 KiB.
func Tail(path string, n int) string {
	text := bytes.TrimRight(lastBytes(path, 64<<10), "\n")
	if len(text) == 0 {
		return "  (nothing was logged)"
	}
	lines := bytes.Split(text, []byte("\n"))
	lines = lines[max(0, len(lines)-n):]
	return "  " + string(bytes.Join(lines, []byte("\n  ")))
}

func lastBytes(path string, n int64) []byte {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	if size, err := f.Seek(0, io.SeekEnd); err == nil {
		_, _ = f.Seek(max(0, size-n), io.SeekStart)
	}
	text, _ := io.ReadAll(io.LimitReader(f, n))
	return text
}
