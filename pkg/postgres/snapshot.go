package postgres

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Snapshot is the state of a shard that a batch was read in.
type Snapshot struct {
	XMin, XMax uint64   // 64-bit transaction ids
	InProgress []uint64 // ids in [XMin, XMax) that had not ended, ascending
	At         time.Time
	InsertLSN  uint64
	Identity   Identity
}

// Identity tells one life of one shard from another.
type Identity struct {
	Incarnation      string // prejoin.incarnation's id; "" where the row is gone (a crash, a failover, a restore)
	RowSystem        string // the system identifier that the row was written under
	SystemIdentifier string // pg_control_system's
	Timeline         int32
}

// Rank counts the transactions that had ended. Within one incarnation it never
// falls, and two snapshots of one rank see the same rows.
func (s Snapshot) Rank() int64 { return int64(s.XMax) - int64(len(s.InProgress)) }

// Sees tells whether the transaction with these low 32 bits had ended when the
// snapshot was taken. The id is widened to the 64-bit id nearest to XMax.
func (s Snapshot) Sees(xid uint32) bool {
	full := Widen(xid, s.XMax)
	if full >= s.XMax {
		return false
	}
	_, running := slices.BinarySearch(s.InProgress, full)
	return !running
}

// Widen gives the 64-bit transaction id that has these low 32 bits and is
// nearest to near: ids on the wire are 32 bits, and PostgreSQL keeps those in
// use within 2^31 of each other.
func Widen(xid uint32, near uint64) uint64 {
	ahead := int64(int32(xid - uint32(near))) //nolint:gosec // the wrap is the point
	if ahead < 0 && uint64(-ahead) > near {
		return uint64(xid)
	}
	return near + uint64(ahead) //nolint:gosec // two's complement: adds or subtracts
}

// parseSnapshot reads pg_snapshot's text form, xmin:xmax:xip,xip,…
func parseSnapshot(text string) (xmin, xmax uint64, running []uint64, err error) {
	parts := strings.Split(text, ":")
	if len(parts) != 3 {
		return 0, 0, nil, fmt.Errorf("parsing the snapshot %q: want xmin:xmax:ids", text)
	}
	numbers := append([]string{parts[0], parts[1]}, splitList(parts[2])...)
	ids := make([]uint64, len(numbers))
	for i, n := range numbers {
		if ids[i], err = strconv.ParseUint(n, 10, 64); err != nil {
			return 0, 0, nil, fmt.Errorf("parsing the snapshot %q: %w", text, err)
		}
	}
	running = ids[2:]
	slices.Sort(running)
	return ids[0], ids[1], running, nil
}

func splitList(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, ",")
}

// parseLSN reads PostgreSQL's X/X form of a WAL position.
func parseLSN(text string) (uint64, error) {
	high, low, ok := strings.Cut(text, "/")
	if !ok {
		return 0, fmt.Errorf("parsing the WAL position %q: want X/X", text)
	}
	h, err := strconv.ParseUint(high, 16, 32)
	if err != nil {
		return 0, fmt.Errorf("parsing the WAL position %q: %w", text, err)
	}
	l, err := strconv.ParseUint(low, 16, 32)
	if err != nil {
		return 0, fmt.Errorf("parsing the WAL position %q: %w", text, err)
	}
	return h<<32 | l, nil
}

// snapshotOf reads the row of snapshotSQL.
func snapshotOf(v [][]byte) (s Snapshot, err error) {
	if s.XMin, s.XMax, s.InProgress, err = parseSnapshot(string(v[0])); err != nil {
		return s, err
	}
	ms, err := strconv.ParseInt(string(v[1]), 10, 64)
	if err != nil {
		return s, fmt.Errorf("parsing the snapshot's time: %w", err)
	}
	s.At = time.UnixMilli(ms).UTC()
	s.Identity, err = identityOf(v[2:6])
	if err != nil {
		return s, err
	}
	s.InsertLSN, err = parseLSN(string(v[6]))
	return s, err
}

// identityOf reads the incarnation row (both NULL where it is gone), the system
// identifier, and the current WAL file, whose name begins with the timeline.
func identityOf(v [][]byte) (Identity, error) {
	id := Identity{Incarnation: string(v[0]), RowSystem: string(v[1]), SystemIdentifier: string(v[2])}
	if len(v[3]) < 8 {
		return id, fmt.Errorf("parsing the WAL file name %q: want 24 hexadecimal digits", v[3])
	}
	timeline, err := strconv.ParseUint(string(v[3][:8]), 16, 31)
	if err != nil {
		return id, fmt.Errorf("parsing the WAL file name %q: %w", v[3], err)
	}
	id.Timeline = int32(timeline)
	return id, nil
}
