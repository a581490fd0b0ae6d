package main

import "testing"

func TestPadded(t *testing.T) {
	f := func(text string, n int, want string) {
		t.Helper()
		if got := padded(text, n); got != want {
			t.Errorf("padded(%q, %d) = %q, want %q", text, n, got, want)
		}
	}
	f("", 3, "   ")
	f("abc", 5, "abc  ")
	f("abcdef", 5, "abcde")
	f("가나", 5, "가나 ")
	f("가나다", 5, "가나 ") // half a syllable cannot be shown
	f("가A나", 5, "가A나")
	f("(주)한빛", 10, "(주)한빛  ")
}

func TestGrouped(t *testing.T) {
	f := func(n int64, want string) {
		t.Helper()
		if got := grouped(n); got != want {
			t.Errorf("grouped(%d) = %q, want %q", n, got, want)
		}
	}
	f(0, "0")
	f(999, "999")
	f(1000, "1,000")
	f(-1000, "-1,000")
	f(-100, "-100")
	f(1234567, "1,234,567")
}
