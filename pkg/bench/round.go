package bench

import (
	"runtime"
	"slices"
	"time"
)

// Round is one run of one variant, as its JSON line shows it.
type Round struct {
	Bench   string  `json:"bench"`
	Round   int     `json:"round"` // from 1
	Variant string  `json:"variant"`
	Seconds float64 `json:"seconds"`
	Rows    int64   `json:"rows"`
	Bytes   int64   `json:"bytes,omitempty"`
	RowRate float64 `json:"rows_per_second"`
	MBRate  float64 `json:"mb_per_second,omitempty"` // 10^6 bytes
}

func newRound(variant string, work Work, taken time.Duration) Round {
	s := max(taken.Seconds(), 1e-9)
	return Round{
		Variant: variant, Seconds: s, Rows: work.Rows, Bytes: work.Bytes,
		RowRate: float64(work.Rows) / s, MBRate: float64(work.Bytes) / 1e6 / s,
	}
}

// Summary is a bench's last JSON line.
type Summary struct {
	Bench    string    `json:"bench"`
	Summary  bool      `json:"summary"` // always true: tells it from a round
	Rounds   int       `json:"rounds"`
	Variants []Figures `json:"variants"`
	Machine  Machine   `json:"machine"`
}

// Figures are the medians of one variant over the rounds.
type Figures struct {
	Variant string  `json:"variant"`
	Seconds float64 `json:"median_seconds"`
	Fastest float64 `json:"fastest_seconds"`
	Slowest float64 `json:"slowest_seconds"`
	RowRate float64 `json:"rows_per_second"`
	MBRate  float64 `json:"mb_per_second,omitempty"`
	// Speed is the median over the rounds of the first variant's time divided by
	// this one's in the same round: 2 is twice as fast as the first.
	Speed float64 `json:"speed"`
}

// Machine is where the figures were taken.
type Machine struct {
	OS   string `json:"os"`
	Arch string `json:"arch"`
	CPUs int    `json:"cpus"`
	Go   string `json:"go"`
}

func summarize(b Bench, variants []Variant, rounds [][]Round) Summary {
	s := Summary{
		Bench: b.Name, Summary: true, Rounds: len(rounds),
		Machine: Machine{runtime.GOOS, runtime.GOARCH, runtime.GOMAXPROCS(0), runtime.Version()},
	}
	for i := range variants {
		s.Variants = append(s.Variants, figures(rounds, i))
	}
	return s
}

func figures(rounds [][]Round, variant int) Figures {
	pick := func(value func(first, own Round) float64) []float64 {
		values := make([]float64, len(rounds))
		for r, runs := range rounds {
			values[r] = value(runs[0], runs[variant])
		}
		return values
	}
	seconds := pick(func(_, own Round) float64 { return own.Seconds })
	return Figures{
		Variant: rounds[0][variant].Variant,
		Seconds: median(seconds), Fastest: slices.Min(seconds), Slowest: slices.Max(seconds),
		RowRate: median(pick(func(_, own Round) float64 { return own.RowRate })),
		MBRate:  median(pick(func(_, own Round) float64 { return own.MBRate })),
		Speed:   median(pick(func(first, own Round) float64 { return first.Seconds / own.Seconds })),
	}
}

// median is the middle value, or the mean of the two middle ones.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
