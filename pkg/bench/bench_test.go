package bench_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"prejoin/pkg/bench"
)

// sleeper is a variant that takes the given times, one a round.
func sleeper(name, digest string, log *[]string, times ...time.Duration) bench.Variant {
	round := 0
	return bench.Variant{
		Name:  name,
		Check: func(context.Context) (string, error) { *log = append(*log, "check "+name); return digest, nil },
		Run: func(context.Context) (bench.Work, error) {
			*log = append(*log, name)
			time.Sleep(times[round])
			round++
			return bench.Work{Rows: 1000, Bytes: 2e6}, nil
		},
	}
}

func one(variants ...bench.Variant) []bench.Bench {
	return []bench.Bench{{Name: "sleep", About: "two sleepers", Setup: func(context.Context) (*bench.Fixture, error) {
		return &bench.Fixture{Variants: variants}, nil
	}}}
}

func TestRoundsAreInterleavedAfterAllChecks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log []string
		a := sleeper("a", "x", &log, time.Second, time.Second, time.Second)
		b := sleeper("b", "x", &log, time.Second, time.Second, time.Second)
		if err := bench.Run(t.Context(), bench.Config{Rounds: 3, JSON: io.Discard, Table: io.Discard}, one(a, b)); err != nil {
			t.Fatal(err)
		}
		if got, want := strings.Join(log, " "), "check a check b a b a b a b"; got != want {
			t.Errorf("the order was %q, not %q", got, want)
		}
	})
}

// The machine is slower in some rounds. The median times alone (4 s and 3 s)
// would call b 1.33 times as fast; within two of three rounds it is twice as fast.
func TestFiguresAreMediansAndRatiosAreWithinRounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log []string
		var out, people bytes.Buffer
		a := sleeper("a", "x", &log, 2*time.Second, 6*time.Second, 4*time.Second)
		b := sleeper("b", "x", &log, 1*time.Second, 3*time.Second, 8*time.Second)
		if err := bench.Run(t.Context(), bench.Config{Rounds: 3, JSON: &out, Table: &people}, one(a, b)); err != nil {
			t.Fatal(err)
		}
		rounds, summary := decode(t, &out)
		if len(rounds) != 6 || rounds[3].Round != 2 || rounds[3].Variant != "b" || rounds[3].Seconds != 3 {
			t.Errorf("the rounds read %+v", rounds)
		}
		if got := rounds[0]; got.RowRate != 500 || got.MBRate != 1 {
			t.Errorf("1,000 rows and 2 MB in 2 s read %v rows/s and %v MB/s", got.RowRate, got.MBRate)
		}
		b2 := summary.Variants[1]
		if b2.Seconds != 3 || b2.Fastest != 1 || b2.Slowest != 8 || b2.Speed != 2 {
			t.Errorf("the summary of b reads %+v; want median 3, fastest 1, slowest 8, speed 2", b2)
		}
		if summary.Variants[0].Speed != 1 {
			t.Errorf("the first variant is %v times as fast as itself", summary.Variants[0].Speed)
		}
		for _, want := range []string{"two sleepers", "4.000", "2.00"} {
			if !strings.Contains(people.String(), want) {
				t.Errorf("the table lacks %q:\n%s", want, people.String())
			}
		}
	})
}

func decode(t *testing.T, r io.Reader) (rounds []bench.Round, summary bench.Summary) {
	t.Helper()
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		var kind struct{ Summary bool }
		if err := json.Unmarshal(lines.Bytes(), &kind); err != nil {
			t.Fatalf("a line is no JSON: %v\n%s", err, lines.Text())
		}
		if kind.Summary {
			if err := json.Unmarshal(lines.Bytes(), &summary); err != nil {
				t.Fatal(err)
			}
			continue
		}
		var one bench.Round
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			t.Fatal(err)
		}
		rounds = append(rounds, one)
	}
	return rounds, summary
}

func TestNoTimeIsTakenWithoutParity(t *testing.T) {
	var log []string
	var out bytes.Buffer
	a, b := sleeper("a", "x", &log, 0), sleeper("b", "y", &log, 0)
	err := bench.Run(t.Context(), bench.Config{Rounds: 1, JSON: &out, Table: io.Discard}, one(a, b))
	if !errors.Is(err, bench.ErrParity) {
		t.Fatalf("different results gave %v", err)
	}
	if out.Len() > 0 || strings.Join(log, " ") != "check a check b" {
		t.Errorf("something was timed all the same: %v %s", log, out.String())
	}
}

func TestAnErrorEndsTheRunAndFreesTheFixture(t *testing.T) {
	broken := errors.New("broken")
	closed := 0
	ok := func(context.Context) (string, error) { return "x", nil }
	done := func(context.Context) (bench.Work, error) { return bench.Work{}, nil }
	f := func(name string, want error, v bench.Variant) {
		t.Helper()
		closed = 0
		b := bench.Bench{Name: "b", Setup: func(context.Context) (*bench.Fixture, error) {
			first := bench.Variant{Name: "first", Check: ok, Run: done}
			return &bench.Fixture{Variants: []bench.Variant{first, v}, Close: func() error { closed++; return nil }}, nil
		}}
		err := bench.Run(t.Context(), bench.Config{Rounds: 1, JSON: io.Discard, Table: io.Discard}, []bench.Bench{b, b})
		if !errors.Is(err, want) || !strings.Contains(err.Error(), "bench b") {
			t.Errorf("%s gave %v", name, err)
		}
		if closed != 1 {
			t.Errorf("%s: the fixture was closed %d times", name, closed)
		}
	}
	f("a failed check", broken, bench.Variant{Check: func(context.Context) (string, error) { return "", broken }, Run: done})
	f("a failed run", broken, bench.Variant{Check: ok, Run: func(context.Context) (bench.Work, error) { return bench.Work{}, broken }})
	f("a failed preparation", broken, bench.Variant{Check: ok, Run: done, Prepare: func(context.Context) error { return broken }})
}

func TestACanceledRunStopsBetweenVariants(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	ran := 0
	v := func(name string) bench.Variant {
		return bench.Variant{
			Name:  name,
			Check: func(context.Context) (string, error) { return "x", nil },
			Run:   func(context.Context) (bench.Work, error) { ran++; cancel(); return bench.Work{}, nil },
		}
	}
	err := bench.Run(ctx, bench.Config{Rounds: 3, JSON: io.Discard, Table: io.Discard}, one(v("a"), v("b")))
	if !errors.Is(err, context.Canceled) || ran != 1 {
		t.Errorf("after a cancel %d variants ran: %v", ran, err)
	}
}

func TestSelect(t *testing.T) {
	all := []bench.Bench{{Name: "a"}, {Name: "b"}}
	if got, err := bench.Select(all, nil); err != nil || len(got) != 2 {
		t.Errorf("no names gave %v, %v", got, err)
	}
	if got, err := bench.Select(all, []string{"b"}); err != nil || len(got) != 1 || got[0].Name != "b" {
		t.Errorf("b gave %v, %v", got, err)
	}
	if _, err := bench.Select(all, []string{"c"}); err == nil || !strings.Contains(err.Error(), "a, b") {
		t.Errorf("an unknown name gave %v", err)
	}
}

func TestOneVariantIsNoComparison(t *testing.T) {
	var log []string
	err := bench.Run(t.Context(), bench.Config{JSON: io.Discard, Table: io.Discard}, one(sleeper("a", "x", &log, 0)))
	if err == nil || !strings.Contains(err.Error(), "two or more") {
		t.Errorf("one variant gave %v", err)
	}
}

func TestAWriterThatFailsStopsTheRun(t *testing.T) {
	var log []string
	a, b := sleeper("a", "x", &log, 0), sleeper("b", "x", &log, 0)
	err := bench.Run(t.Context(), bench.Config{Rounds: 1, JSON: fullDisk{}, Table: io.Discard}, one(a, b))
	if err == nil || !strings.Contains(err.Error(), "disk full") {
		t.Errorf("a full disk gave %v", err)
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("disk full") }
