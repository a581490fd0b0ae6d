package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// screen prints what is where, how far behind and how fast, on one screen.
func (d *demo) screen(ctx context.Context, w io.Writer) error {
	s, err := d.survey(ctx)
	if err != nil {
		return err
	}
	asked, err := d.ask(ctx)
	if err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\nPrejoin: %s settlements on %d shards, joined into documents\n", grouped(s.total), len(s.shards))
	s.printShards(&b)
	s.printSkew(&b)
	s.printDocuments(&b)
	d.printFlow(&b)
	d.printAsked(&b, asked)
	_, err = io.WriteString(w, b.String())
	return err
}

func (s survey) printShards(b *strings.Builder) {
	b.WriteString("\nWRITE SIDE (PostgreSQL)\n")
	for _, one := range s.shards {
		fmt.Fprintf(b, "  %-8s %11s settlements %5.1f %%  %12s fee lines  %12s rows in all\n",
			one.name, grouped(one.settlements), percent(one.settlements, s.total), grouped(one.lines), grouped(one.rows))
	}
}

// printSkew names the largest merchants: the reason for the whole.
func (s survey) printSkew(b *strings.Builder) {
	var ten int64
	for _, m := range s.merchants[:min(10, len(s.merchants))] {
		ten += m.rows
	}
	fmt.Fprintf(b, "  the ten largest merchants hold %.1f %%:\n", percent(ten, s.total))
	for _, m := range s.merchants[:min(3, len(s.merchants))] {
		fmt.Fprintf(b, "    %4d  %s %8s  %4.1f %%  on %s\n", m.id, padded(m.name, 28), grouped(m.rows), percent(m.rows, s.total), m.shard)
	}
}

func (s survey) printDocuments(b *strings.Builder) {
	b.WriteString("\nREAD SIDE (MongoDB)\n")
	for _, c := range s.documents {
		fmt.Fprintf(b, "  %-14s %11s documents in %s\n", c.model, grouped(c.documents), c.name)
	}
}

func (d *demo) printFlow(b *strings.Builder) {
	r := d.workload.Report()
	fmt.Fprintf(b, "\nBETWEEN THEM (Kafka: kfake)\n")
	fmt.Fprintf(b, "  workload  %s transactions committed, %.0f a second (%.0f were asked for)\n",
		grouped(r.Committed), float64(r.Committed)/max(r.Took.Seconds(), 0.001), d.cmd.Rate)
	fmt.Fprintf(b, "  lag       a commit is in its document after %d ms (median of %d, worst %d ms); caught up %.1f s after the pause\n",
		d.lag.median.Milliseconds(), d.lag.probes, d.lag.worst.Milliseconds(), d.settled.Seconds())
	fmt.Fprintf(b, "  verify    %v\n", d.verdict)
}

func (d *demo) printAsked(b *strings.Builder, asked []asked) {
	b.WriteString("\nASK (the time is that of the whole answer, measured just now)\n")
	if !d.cmd.Exit {
		fmt.Fprintf(b, "  export KEY=%s URL=%s\n", d.key, d.daemons.url)
	}
	for _, a := range asked {
		fmt.Fprintf(b, "  # %s: %d ms, %s, %s bytes\n  %s\n", a.what, a.took.Milliseconds(), rows(a.rows), grouped(a.bytes), a.curl())
	}
	if !d.cmd.Exit {
		b.WriteString("\nThe workload goes on. Ctrl-C stops all and removes it.\n")
	}
}

func rows(n int64) string {
	if n == 1 {
		return "1 row"
	}
	return grouped(n) + " rows"
}

func percent(n, of int64) float64 { return 100 * float64(n) / float64(max(1, of)) }

// grouped writes 1234567 as 1,234,567.
func grouped(n int64) string {
	text := strconv.FormatInt(n, 10)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
