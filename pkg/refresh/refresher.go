package refresh

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/bson"

	"prejoin/pkg/document"
	"prejoin/pkg/logging"
	"prejoin/pkg/mongodb"
	"prejoin/pkg/postgres"
	"prejoin/pkg/readmodel"
	"prejoin/pkg/retry"
)

// Source is the shard that documents are read from; *postgres.Shard is one.
type Source interface {
	Name() string
	Read(context.Context, postgres.Query, postgres.Sink) (postgres.Timing, error)
}

// Target is what documents are written to; *mongodb.DB is one.
type Target interface {
	SampleClock(context.Context) (mongodb.Clock, error)
	Apply(context.Context, mongodb.Bulk) ([]mongodb.Outcome, error)
	Insert(ctx context.Context, collection string, docs []bson.Raw) (duplicates []int, err error)
}

// Refresher re-reads documents of one model from one shard and writes them.
// Its methods may be called by many goroutines at once.
type Refresher struct {
	source   Source
	target   Target
	guard    *Guard
	shape    *document.Shape
	tables   []string
	metrics  *Metrics
	throttle *logging.Throttle

	mu      sync.Mutex
	clock   mongodb.Clock
	sampled time.Time
}

// Config is what a Refresher is made of; all fields are required.
type Config struct {
	Source  Source
	Target  Target
	Guard   *Guard
	Model   *readmodel.Model
	Metrics *Metrics
	Log     *slog.Logger
}

// New makes a Refresher.
func New(cfg Config) *Refresher {
	log := cfg.Log.With("shard", cfg.Source.Name(), "model", cfg.Model.Name)
	return &Refresher{source: cfg.Source, target: cfg.Target, guard: cfg.Guard, shape: document.NewShape(cfg.Model),
		tables: tables(cfg.Model), metrics: cfg.Metrics, throttle: logging.NewThrottle(log, 10*time.Second)}
}

// Model is the model whose documents are refreshed.
func (r *Refresher) Model() *readmodel.Model { return r.shape.Model() }

// Shard is the name of the shard that is read.
func (r *Refresher) Shard() string { return r.source.Name() }

// tables are those that the model's SQL reads: routed or declared static.
func tables(m *readmodel.Model) []string {
	seen := map[string]bool{}
	var list []string
	add := func(t string) {
		if !seen[t] {
			seen[t] = true
			list = append(list, t)
		}
	}
	for _, rt := range m.Routes {
		add(rt.Table)
	}
	for _, t := range m.Static {
		add(t)
	}
	return list
}

// Result says what a refresh did.
type Result struct {
	Snapshot    postgres.Snapshot
	Live, Gone  int // documents read, ids without a row
	Applied     int // writes that changed MongoDB
	Superfluous int // a newer or equal document was there
}

// Refresh re-reads the documents of the ids and writes them; it waits for
// outages to end. The ids are distinct, 1,000 at most for a bounded batch.
func (r *Refresher) Refresh(ctx context.Context, ids []string) (Result, error) {
	var res Result
	err := r.patiently(ctx, func(ctx context.Context) (err error) {
		res, err = r.once(ctx, ids)
		return err
	})
	return res, err
}

// patiently runs f until it works or fails for good.
func (r *Refresher) patiently(ctx context.Context, f func(context.Context) error) error {
	policy := retry.Policy{Notify: func(err error, attempt int, wait time.Duration) {
		r.metrics.retries.WithLabelValues(r.source.Name()).Inc()
		r.throttle.Warn(ctx, "retry", "waiting for a server", "error", err, "attempt", attempt, "wait", wait.Round(time.Millisecond))
	}}
	return retry.Do(ctx, policy, Temporary, f)
}

func (r *Refresher) once(ctx context.Context, ids []string) (Result, error) {
	clock, err := r.sample(ctx, false)
	if err != nil {
		return Result{}, err
	}
	snapshot, batch, err := r.Read(ctx, ids)
	if err != nil {
		return Result{}, err
	}
	bulk, err := r.bulk(snapshot, clock, batch, ids)
	if err != nil {
		return Result{}, err
	}
	start := time.Now()
	outcomes, err := r.target.Apply(ctx, bulk)
	r.metrics.write.Observe(time.Since(start).Seconds())
	if err != nil {
		return Result{}, fmt.Errorf("writing %d documents of shard %s: %w", len(ids), r.source.Name(), err)
	}
	return r.settle(ctx, ids, outcomes, Result{Snapshot: snapshot, Live: batch.Len(), Gone: len(ids) - batch.Len()})
}

// sampleEvery bounds the age of a clock sample. A write may come until 60 s
// after its sample, and a sample must precede the read: an old one is only stricter.
const sampleEvery = 5 * time.Second

func (r *Refresher) sample(ctx context.Context, fresh bool) (mongodb.Clock, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !fresh && time.Since(r.sampled) < sampleEvery {
		return r.clock, nil
	}
	now := time.Now()
	clock, err := r.target.SampleClock(ctx)
	if err != nil {
		return clock, fmt.Errorf("reading MongoDB's clock: %w", err)
	}
	r.clock, r.sampled = clock, now
	return clock, nil
}

func (r *Refresher) bulk(s postgres.Snapshot, clock mongodb.Clock, batch *document.Batch, ids []string) (mongodb.Bulk, error) {
	writes := make([]mongodb.Write, len(ids))
	for i, id := range ids {
		raw, err := r.shape.ID(id)
		if err != nil {
			return mongodb.Bulk{}, fmt.Errorf("reading the id %q: %w", id, err)
		}
		writes[i] = mongodb.Write{ID: raw, Doc: batch.Document(id)}
	}
	return mongodb.Bulk{Collection: r.Model().Collection(), Shard: r.source.Name(), Version: mongodb.Version{Epoch: r.guard.Epoch(), Rank: s.Rank()},
		At: s.At, Clock: clock, Writes: writes}, nil
}

// settle counts what became of the writes; those that came too late are done again.
func (r *Refresher) settle(ctx context.Context, ids []string, outcomes []mongodb.Outcome, res Result) (Result, error) {
	var late []string
	for i, o := range outcomes {
		switch o {
		case mongodb.Applied:
			res.Applied++
		case mongodb.Superfluous:
			res.Superfluous++
		case mongodb.Late:
			late = append(late, ids[i])
		case mongodb.OtherEpoch:
			return res, &EpochError{r.source.Name()}
		case mongodb.OtherShard:
			return res, &MovedError{r.source.Name(), r.Model().Collection(), ids[i]}
		default:
			return res, fmt.Errorf("document %s has the unknown outcome %d: report this as a bug", ids[i], o)
		}
	}
	r.metrics.count(r.source.Name(), r.Model().Name, res)
	if len(late) > 0 {
		return r.again(ctx, late, res)
	}
	return res, nil
}

// again repeats late writes with a fresh sample of MongoDB's clock.
func (r *Refresher) again(ctx context.Context, late []string, res Result) (Result, error) {
	r.throttle.Warn(ctx, "late", "writes reached MongoDB over 60 s after their read began; reading them again", "documents", len(late))
	if _, err := r.sample(ctx, true); err != nil {
		return res, err
	}
	more, err := r.once(ctx, late)
	res.Applied += more.Applied
	res.Superfluous += more.Superfluous
	return res, err
}

// Read builds the documents of the ids from one snapshot. Ids without a
// document have no row.
func (r *Refresher) Read(ctx context.Context, ids []string) (postgres.Snapshot, *document.Batch, error) {
	param := [][]byte{array(ids)}
	q := postgres.Query{Tables: r.tables}
	for _, sql := range r.shape.Queries() {
		q.Statements = append(q.Statements, postgres.Statement{SQL: sql, Params: param})
	}
	batch := r.shape.NewBatch()
	sink := &documents{admission: r.admission(), batch: batch}
	timing, err := r.source.Read(ctx, q, sink)
	r.metrics.observe(timing)
	if err != nil {
		return postgres.Snapshot{}, nil, err
	}
	return sink.snapshot, batch, nil
}

// ID gives an id's BSON value.
func (r *Refresher) ID(id string) (bson.RawValue, error) { return r.shape.ID(id) }
