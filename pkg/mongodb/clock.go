package mongodb

import (
	"context"
	"errors"
	"time"

	"go.mongodb.org/mongo-driver/bson"
)

const (
	// writeWindow is how long after its clock sample a write may take effect.
	writeWindow = 60 * time.Second
	// surelyInTime is well before the end of writeWindow: a bulk that ended
	// within it cannot have been late, whatever the clocks' drift.
	surelyInTime = writeWindow / 2
)

// Clock is a sample of MongoDB's clock. A write that carries it can take
// effect for 60 s on that clock and never after. Sample it before the snapshot
// that the write's documents are read from begins.
type Clock struct {
	server time.Time // hello.localTime
	taken  time.Time // this process's clock before the sample was asked for
	term   int64     // whose clock it is
}

// SampleClock asks the primary for its time.
func (db *DB) SampleClock(ctx context.Context) (Clock, error) {
	clock := Clock{taken: time.Now(), term: db.leader.term()}
	var hello struct {
		LocalTime time.Time `bson:"localTime"`
		Writable  bool      `bson:"isWritablePrimary"`
	}
	limited, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	err := db.w.RunCommand(limited, bson.D{{Key: "hello", Value: 1}}).Decode(&hello)
	if err == nil && (!hello.Writable || hello.LocalTime.IsZero()) {
		err = &temporary{errors.New("the server that answered is no primary")}
	}
	if err != nil {
		return Clock{}, classify(ctx, "sampling MongoDB's clock", err)
	}
	clock.server = hello.LocalTime
	return clock, nil
}

// Deadline is the time on MongoDB's clock after which a write has no effect.
func (c Clock) Deadline() time.Time { return c.server.Add(writeWindow) }

// Skew is how far MongoDB's clock runs ahead of this machine's, within the
// time that the sample took. Over 10 s deserves an alarm.
func (c Clock) Skew() time.Duration { return c.server.Sub(c.taken.Round(0)) }

// age is at least the time that passed on MongoDB's clock since the sample, by
// the monotonic clock, or by the wall clock where a sleeping machine stopped
// the monotonic one.
func (c Clock) age() time.Duration {
	now := time.Now()
	return max(now.Sub(c.taken), now.Round(0).Sub(c.taken.Round(0)))
}

// inTime reports that no command which has ended by now was late.
func (db *DB) inTime(c Clock) bool {
	return c.age() < surelyInTime && c.term == db.leader.term()
}
