package capture

import (
	"context"
	"time"

	"prejoin/pkg/cdc"
	"prejoin/pkg/kafka"
	"prejoin/pkg/postgres/wal"
)

// writer turns one session's events into messages.
type writer struct {
	shard   *shard
	queue   *queue
	tables  map[uint32]*table // by the relation's id: a table is described again and again
	memory  []byte            // where messages are written; a full piece is left to its messages
	scratch []byte            // timestamps of the row in work
	env     cdc.Envelope
}

// pieceSize is how much memory is taken at a time for messages.
const pieceSize = 256 << 10

func newWriter(s *shard, q *queue) *writer {
	return &writer{shard: s, queue: q, tables: map[uint32]*table{}}
}

func (w *writer) write(ctx context.Context, e *wal.Event) error {
	switch e.Kind {
	case wal.Begin:
		return nil
	case wal.Described:
		return w.describe(ctx, e.Table)
	case wal.Commit:
		w.queue.mark(e.LSN, e.Tx.Committed)
		return nil
	case wal.Idle:
		w.queue.mark(e.LSN, time.Time{})
		return nil
	case wal.Truncate:
		return w.truncate(ctx, e)
	}
	return w.row(ctx, e)
}

func (w *writer) describe(ctx context.Context, described *wal.Table) error {
	t, err := newTable(ctx, w.shard, described)
	if err != nil {
		return err
	}
	w.tables[described.ID] = t
	if t.heartbeat {
		return nil
	}
	return w.shard.ensureTopic(ctx, w.shard.cfg.Partitions, t.topic)
}

func (w *writer) row(ctx context.Context, e *wal.Event) error {
	t := w.tables[e.Table.ID]
	if t.heartbeat {
		return w.heartbeat(ctx)
	}
	w.scratch = w.scratch[:0]
	old := w.old(t, e)
	switch e.Kind {
	case wal.Insert:
		return w.emit(ctx, t, e, 'c', nil, w.columns(&t.new, t, e.New, nil), nil)
	case wal.Delete:
		return w.remove(ctx, t, e, old, nil)
	}
	row := w.columns(&t.new, t, e.New, e.Old)
	if !t.keyChanged(old, row) {
		return w.emit(ctx, t, e, 'u', old, row, nil)
	}
	// As Debezium does: a changed primary key is the end of one row and the start of another.
	before, after := cdc.AppendKey(nil, t.key(nil, old)), cdc.AppendKey(nil, t.key(nil, row))
	if err := w.remove(ctx, t, e, old, []kafka.Header{{Key: "__debezium.newkey", Value: after}}); err != nil {
		return err
	}
	return w.emit(ctx, t, e, 'c', nil, row, []kafka.Header{{Key: "__debezium.oldkey", Value: before}})
}

// remove emits a delete, and the tombstone that lets compaction forget the key.
func (w *writer) remove(ctx context.Context, t *table, e *wal.Event, old []cdc.Column, headers []kafka.Header) error {
	if err := w.emit(ctx, t, e, 'd', old, nil, headers); err != nil {
		return err
	}
	key := w.appendKey(t, old)
	if key == nil {
		return nil
	}
	return w.queue.put(ctx, kafka.Message{Topic: t.topic, Key: key})
}

func (w *writer) truncate(ctx context.Context, e *wal.Event) error {
	for _, truncated := range e.Truncated {
		if t := w.tables[truncated.ID]; !t.heartbeat {
			if err := w.emit(ctx, t, e, 't', nil, nil, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *writer) heartbeat(ctx context.Context) error {
	m := kafka.Message{Topic: w.shard.heartbeatTopic(), Key: cdc.AppendHeartbeatKey(nil, w.shard.name), Value: cdc.AppendHeartbeat(nil, time.Now())}
	return w.queue.put(ctx, m)
}

// emit queues one envelope; its key is the primary key of the row that is, or else was.
func (w *writer) emit(ctx context.Context, t *table, e *wal.Event, op byte, before, after []cdc.Column, headers []kafka.Header) error {
	w.env = cdc.Envelope{Op: op, Shard: w.shard.name, Database: w.shard.source.Database, Schema: t.schema, Table: t.name, TxID: e.Tx.ID, LSN: e.LSN,
		CommitLSN: e.Tx.LSN, Committed: e.Tx.Committed, Now: time.Now(), Before: before, After: after}
	row := after
	if row == nil {
		row = before
	}
	m := kafka.Message{Topic: t.topic, Key: w.appendKey(t, row), Value: w.appendEnvelope(), Headers: headers}
	if w.shrink(m.Size()) {
		m.Value = w.appendEnvelope()
	}
	w.shard.metrics.rows.WithLabelValues(w.shard.name, string(op)).Inc()
	return w.queue.put(ctx, m)
}

func (w *writer) appendKey(t *table, row []cdc.Column) []byte {
	if row == nil || len(t.primary) == 0 {
		return nil
	}
	t.keyRow = t.key(t.keyRow[:0], row)
	return w.keep(func(dst []byte) []byte { return cdc.AppendKey(dst, t.keyRow) })
}

func (w *writer) appendEnvelope() []byte {
	return w.keep(func(dst []byte) []byte { return cdc.AppendEnvelope(dst, &w.env) })
}

// keep lets f append to the current piece of memory and returns what it appended.
func (w *writer) keep(f func(dst []byte) []byte) []byte {
	if cap(w.memory)-len(w.memory) < 4<<10 {
		w.memory = make([]byte, 0, pieceSize)
	}
	start := len(w.memory)
	w.memory = f(w.memory)
	return w.memory[start:len(w.memory):len(w.memory)]
}
