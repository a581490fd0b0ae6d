package readmodel_test

import (
	"strings"
	"testing"
	"time"

	"prejoin/pkg/readmodel"
)

// Texts that cost a naive reader minutes, gigabytes or its stack.
func TestHostileTexts(t *testing.T) {
	const size = readmodel.MaxBytes / 4 // minutes in a naive reader
	for name, text := range map[string]string{
		"brackets":       strings.Repeat("[", size),
		"braces":         strings.Repeat("{a: ", size/4),
		"dashes":         strings.Repeat("- ", size/2),
		"colons":         strings.Repeat("a: ", size/3),
		"question marks": strings.Repeat("? ", size/2),
		"one key":        strings.Repeat("model: a\n", size/9),
		"fields":         "fields:\n" + strings.Repeat("  - {}\n", size/8),
		"long key":       strings.Repeat("k", readmodel.MaxBytes-10) + ": 1",
		"flow of keys":   "{" + strings.Repeat("a, ", size/3-1) + "}",
		"stairs":         stairs(1200),
		"one key, most":  strings.Repeat("model: a\n", 8_000),
		"flow, most":     "{" + strings.Repeat("a, ", 12_000) + "}",
		"too large":      strings.Repeat("#", readmodel.MaxBytes+1),
		"bomb":           "a: &a [x]\nb: &b [*a,*a,*a,*a]\nc: [*b,*b,*b,*b]\n",
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			_, err := readmodel.Parse("x.yaml", []byte(text))
			if err == nil {
				t.Fatal("accepted")
			}
			if len(err.Error()) > 100_000 {
				t.Errorf("%d bytes of messages", len(err.Error()))
			}
			if took := time.Since(start); took > 30*time.Second {
				t.Errorf("took %s", took)
			} else {
				t.Logf("%s: %.200s", took, err)
			}
		})
	}
}

func stairs(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.String()
}
