package bench

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
)

func writeLine(w io.Writer, line any) error {
	text, err := json.Marshal(line)
	if err != nil {
		return fmt.Errorf("writing a JSON line: %w", err)
	}
	if _, err := w.Write(append(text, '\n')); err != nil {
		return fmt.Errorf("writing a JSON line: %w", err)
	}
	return nil
}

func report(cfg Config, b Bench, s Summary) error {
	if err := writeLine(cfg.JSON, s); err != nil {
		return err
	}
	if err := table(cfg.Table, b, s); err != nil {
		return fmt.Errorf("writing the table: %w", err)
	}
	return nil
}

func table(w io.Writer, b Bench, s Summary) error {
	fmt.Fprintf(w, "\n%s: %s\nmedians of %d rounds on %d CPUs, %s; speed: times as fast as %s\n\n",
		b.Name, b.About, s.Rounds, s.Machine.CPUs, s.Machine.Go, s.Variants[0].Variant)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "variant\tseconds\t(fastest to slowest)\trows/s\tMB/s\tspeed\t")
	for _, f := range s.Variants {
		fmt.Fprintf(t, "%s\t%.3f\t(%.3f to %.3f)\t%.0f\t%s\t%.2f\t\n",
			f.Variant, f.Seconds, f.Fastest, f.Slowest, f.RowRate, megabytes(f.MBRate), f.Speed)
	}
	return t.Flush()
}

func megabytes(rate float64) string {
	if rate == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f", rate)
}
