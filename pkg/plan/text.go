package plan

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// Print writes the report for a terminal. The error is the writer's.
func (r *Report) Print(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintf(t, "model %s, version %d, collection %s, shape %.12s\n\n", r.Model, r.Version, r.Collection, r.Shape)
	fmt.Fprintf(t, "indexes in MongoDB (one an access pattern, and _id):\n")
	for _, index := range r.Indexes {
		fmt.Fprintf(t, "  %s\n", index)
	}
	for i := range r.Shards {
		r.Shards[i].print(t)
	}
	return t.Flush()
}

func (s *Shard) print(w io.Writer) {
	fmt.Fprintf(w, "\n%s (PostgreSQL %s)\n", s.Name, s.Version)
	fmt.Fprintf(w, "  topics: %s\n", strings.Join(s.Topics, ", "))
	fmt.Fprintf(w, "  table\tuse\tsize\treplica identity\troutes use\n")
	for _, t := range s.Tables {
		fmt.Fprintf(w, "  %s\t%s\t%s\t%s\t%s\n", t.Name, t.Use, size(t.Bytes), dash(t.Identity), dash(strings.Join(t.Needs, ", ")))
	}
	fmt.Fprintf(w, "  statement\tcost\trows\treads\t\n")
	for _, st := range s.Statements {
		fmt.Fprintf(w, "  %s\t%.0f\t%.0f\t%s\t\n", st.Name, st.Cost, st.Rows, strings.Join(st.Reads, ", "))
	}
	s.printFindings(w)
}

func (s *Shard) printFindings(w io.Writer) {
	if len(s.Findings) == 0 {
		fmt.Fprintf(w, "  nothing stands in the way\n")
	}
	for _, f := range s.Findings {
		fmt.Fprintf(w, "  %s %s: %s\n      ▶ %s\n", strings.ToUpper(string(f.Severity)), f.Where, f.Problem, f.Fix)
	}
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func size(bytes int64) string {
	switch {
	case bytes >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(bytes)/(1<<30))
	case bytes >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(bytes)/(1<<20))
	}
	return fmt.Sprintf("%d KiB", bytes>>10)
}
