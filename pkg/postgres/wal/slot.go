package wal

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

type slot struct {
	Plugin, Database, WAL *string
	Current               string
	Confirmed             uint64
	Reader                uint32 // the process on the shard that sends it to somebody; 0: none
}

// EnsureSlot finds the shard's slot, or creates it where none has ever been, and returns the position up to which it is confirmed.
// acked is the position that this process knows to be safe, 0 for none. accept creates a lost slot anew: the changes
// between are lost, and a backfill must read them. With ErrSlotActive another capture reads the slot and may move it on: acked then means
// nothing any more.
func (s *Shard) EnsureSlot(ctx context.Context, acked uint64, accept bool) (uint64, error) {
	found, err := s.findSlot(ctx)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return s.createSlot(ctx, acked, accept)
	case err != nil:
		return 0, s.failed("looking for slot "+s.cfg.Slot, err)
	}
	if err := s.checkSlot(found, acked); err != nil {
		return 0, err
	}
	return found.Confirmed, s.remember(ctx, false)
}

func (s *Shard) findSlot(ctx context.Context) (slot, error) {
	rows, err := s.pool.Query(ctx, `SELECT plugin::text, database::text, wal_status, current_database()::text,
		coalesce(confirmed_flush_lsn - '0/0'::pg_lsn, 0)::bigint, coalesce((SELECT pid FROM pg_stat_replication WHERE pid = active_pid), 0)
		FROM pg_replication_slots WHERE slot_name = $1`, s.cfg.Slot)
	if err != nil {
		return slot{}, err
	}
	return pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[slot])
}

func (s *Shard) checkSlot(found slot, acked uint64) error {
	switch {
	case found.Plugin == nil || *found.Plugin != "pgoutput" || found.Database == nil || *found.Database != found.Current:
		return fmt.Errorf("slot %s of shard %s is not a pgoutput slot of database %s: it belongs to someone else; choose another name with --slot",
			s.cfg.Slot, s.cfg.Shard, found.Current)
	case found.WAL != nil && *found.WAL == "lost":
		return s.lost("the shard has removed WAL that the slot still needed (max_slot_wal_keep_size)")
	case acked > 0 && found.Reader != 0 && found.Reader != s.reader.Load():
		return fmt.Errorf("%w: slot %s of shard %s was taken over", ErrSlotActive, s.cfg.Slot, s.cfg.Shard)
	case acked > 0 && found.Confirmed > acked:
		return fmt.Errorf("%w: slot %s of shard %s stands at %s, ahead of %s, up to which was captured here; if another capture read it meanwhile, "+
			"start this one again; else it was created anew: drop it, start the capture once with --accept-lost-slot, then run projector backfill",
			ErrSlotLost, s.cfg.Slot, s.cfg.Shard, FormatLSN(found.Confirmed), FormatLSN(acked))
	}
	return nil
}

func (s *Shard) lost(why string) error {
	return fmt.Errorf("%w: slot %s of shard %s: %s; changes may be missing: drop the slot, start the capture once with --accept-lost-slot, then run projector backfill",
		ErrSlotLost, s.cfg.Slot, s.cfg.Shard, why)
}

func (s *Shard) createSlot(ctx context.Context, acked uint64, accept bool) (uint64, error) {
	since, err := s.remembered(ctx)
	if err != nil {
		return 0, err
	}
	lost := acked > 0 || !since.IsZero()
	if !accept && lost {
		return 0, s.lost(fmt.Sprintf("it existed (since %s) and is gone: dropped, or left behind by a failover", since.UTC().Format(time.RFC3339)))
	}
	s.cfg.Log.InfoContext(ctx, "creating the replication slot; open transactions are waited for", "shard", s.cfg.Shard, "slot", s.cfg.Slot)
	var lsn int64
	err = s.pool.QueryRow(ctx, `SELECT (lsn - '0/0'::pg_lsn)::bigint FROM pg_create_logical_replication_slot($1, 'pgoutput')`, s.cfg.Slot).Scan(&lsn)
	if state(err) == "55000" {
		return 0, fmt.Errorf("creating slot %s of shard %s: %w; set wal_level = logical and restart the shard", s.cfg.Slot, s.cfg.Shard, err)
	}
	if err != nil {
		return 0, s.failed("creating slot "+s.cfg.Slot, err)
	}
	if lost {
		s.cfg.Log.WarnContext(ctx, "a lost replication slot was created anew, and the changes between are missing: run projector backfill, and leave "+
			"--accept-lost-slot out from now on", "shard", s.cfg.Shard, "slot", s.cfg.Slot, "from", FormatLSN(uint64(lsn)))
	}
	return uint64(lsn), s.remember(ctx, true)
}

// slotRow is the row of prejoin.heartbeat that says since when the slot exists.
const slotRow = 2

func (s *Shard) remembered(ctx context.Context) (time.Time, error) {
	var at time.Time
	err := s.pool.QueryRow(ctx, `SELECT at FROM prejoin.heartbeat WHERE id = $1`, slotRow).Scan(&at)
	if errors.Is(err, pgx.ErrNoRows) {
		return at, nil
	}
	return at, s.failed("reading since when the slot exists", err)
}

func (s *Shard) remember(ctx context.Context, anew bool) error {
	sql := `INSERT INTO prejoin.heartbeat (id, at) VALUES ($1, now()) ON CONFLICT (id) DO NOTHING`
	if anew {
		sql = `INSERT INTO prejoin.heartbeat (id, at) VALUES ($1, now()) ON CONFLICT (id) DO UPDATE SET at = now()`
	}
	_, err := s.pool.Exec(ctx, sql, slotRow)
	return s.failed("remembering since when the slot exists", err)
}

// FormatLSN writes a position as PostgreSQL does.
func FormatLSN(lsn uint64) string { return fmt.Sprintf("%X/%X", lsn>>32, uint32(lsn)) }
