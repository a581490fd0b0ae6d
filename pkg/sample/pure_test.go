package sample

import (
	"math/big"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestMoneyIsWrittenExactly(t *testing.T) {
	f := func(c cents, want string) {
		t.Helper()
		if got := c.String(); got != want {
			t.Errorf("%d is written %s, want %s", int64(c), got, want)
		}
	}
	f(0, "0.00")
	f(5, "0.05")
	f(-5, "-0.05")
	f(123456, "1234.56")
	f(maxMoney, "9999999999999999.99")
	f(-maxMoney, "-9999999999999999.99")
	if got := feeRate(2310).String(); got != "0.02310" {
		t.Errorf("2.31 %% is written %s", got)
	}
}

func TestShareOfMoney(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := rapid.Int64Range(-int64(maxMoney), int64(maxMoney)).Draw(t, "cents")
		r := rapid.Int64Range(0, int64(wholeRate)).Draw(t, "rate")
		unit := rapid.SampledFrom([]cents{1, won}).Draw(t, "unit")
		want := new(big.Int).Mul(big.NewInt(c), big.NewInt(r))
		want.Quo(want, big.NewInt(int64(wholeRate)*int64(unit))).Mul(want, big.NewInt(int64(unit)))
		if got := feeRate(r).of(cents(c), unit); int64(got) != want.Int64() {
			t.Fatalf("%d · %d = %d, want %s", c, r, got, want)
		}
	})
}

func TestBusinessDays(t *testing.T) {
	f := func(from day, n int, want string) {
		t.Helper()
		if got := from.plusBusiness(n).String(); got != want {
			t.Errorf("%s + %d business days = %s, want %s", from, n, got, want)
		}
	}
	f(date(2026, 11, 23), 2, "2026-11-25") // Monday
	f(date(2026, 11, 26), 2, "2026-11-30") // Thursday, over a weekend
	f(date(2026, 11, 28), 2, "2026-12-01") // Saturday
	f(date(2026, 9, 23), 2, "2026-09-29")  // over Chuseok and a weekend
	f(date(2026, 10, 2), 2, "2026-10-07")  // over a substitute holiday
	if got := dayOf(time.Date(2026, 11, 29, 15, 0, 0, 0, time.UTC)).String(); got != "2026-11-30" {
		t.Errorf("15:00 UTC is midnight in Seoul, of %s", got)
	}
	if baseDay.String() != BaseDate {
		t.Errorf("the base day is %s, BaseDate %s", baseDay, BaseDate)
	}
}

func TestSharesAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 3_000_000).Draw(t, "settlements")
		sum, ten := 0, 0
		for m, c := range shares(n) {
			sum += c
			if m <= 10 {
				ten += c
			}
		}
		if sum != n || ten != n*7/100 || shares(n)[1] != n*2/100 {
			t.Fatalf("%d settlements were dealt out as %d, %d of them to the ten largest", n, sum, ten)
		}
	})
}

func TestEveryShardGetsMerchants(t *testing.T) {
	for shards := 1; shards <= MaxShards; shards++ {
		counts := make([]int, shards)
		for m := 1; m <= Merchants; m++ {
			counts[shardOf(m, shards)]++
		}
		for s, n := range counts {
			if n == 0 {
				t.Errorf("shard %d of %d has no merchant", s, shards)
			}
		}
	}
}
