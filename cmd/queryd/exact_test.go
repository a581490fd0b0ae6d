package main

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"
	tealeg "github.com/tealeg/xlsx/v3"

	"prejoin/pkg/postgres"
	"prejoin/pkg/refresh"
	"prejoin/pkg/sample"
	"prejoin/pkg/testenv"
	"prejoin/pkg/upkeep"
)

// row is what an analyst signs for: who, how much, and the fees.
type row struct {
	id, orderNo, paymentAmount, amount string
	lines                              []string // kind amount vat
}

func (r row) String() string {
	return fmt.Sprintf("%s %s %s %s %v", r.id, r.orderNo, r.paymentAmount, r.amount, r.lines)
}

// project seeds the sample's shards and backfills their documents.
func (h *house) project(t *testing.T, settlements int) []testenv.Shard {
	t.Helper()
	shards := testenv.Shards(t)
	check(t, func() error {
		_, err := sample.Seed(t.Context(), sample.SeedConfig{Shards: []string{shards[0].DSN, shards[1].DSN}, Settlements: settlements, Seed: 3})
		return err
	})
	widen(t, shards)
	metrics := refresh.NewMetrics(prometheus.NewRegistry())
	var walkers []*refresh.Walker
	for _, s := range shards {
		shard, err := postgres.Open(t.Context(), postgres.Config{Name: s.Name, DSN: s.ProjectorDSN})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(shard.Close)
		guard, err := refresh.Enlist(t.Context(), shard, h.db, refresh.Walk)
		if err != nil {
			t.Fatal(err)
		}
		walkers = append(walkers, &refresh.Walker{Lister: h.db, Workers: 2, Refresher: refresh.New(refresh.Config{Source: shard, Target: h.db,
			Guard: guard, Model: h.model, Metrics: metrics, Log: slog.New(slog.DiscardHandler)})})
	}
	check(t, func() error {
		_, err := upkeep.Backfill(t.Context(), walkers, func(string) bool { return true }, func(string, string, int64) {})
		return err
	})
	return shards
}

// widen gives three settlements of the largest merchant amounts that a double
// cannot hold, or just can.
func widen(t *testing.T, shards []testenv.Shard) {
	t.Helper()
	for _, s := range shards {
		conn, err := pgx.Connect(t.Context(), s.DSN)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close(context.Background())
		for i, amount := range []string{"9999999999999999.99", "9007199254740993.01", "1234567890123.45"} {
			check(t, func() error {
				_, err := conn.Exec(t.Context(), `UPDATE settlement SET payment_amount = $1::numeric, amount = $1::numeric - 0.01 WHERE id =
					(SELECT id FROM settlement WHERE merchant_id = 1 AND type <> 'CANCEL' ORDER BY id OFFSET $2 LIMIT 1)`, amount, i)
				return err
			})
		}
	}
}

func check(t *testing.T, f func() error) {
	t.Helper()
	if err := f(); err != nil {
		t.Fatal(err)
	}
}

// rowsOf asks the shards themselves for a merchant's rows, by id.
func rowsOf(t *testing.T, shards []testenv.Shard, merchant int) (rows []row) {
	t.Helper()
	for _, s := range shards {
		conn, err := pgx.Connect(t.Context(), s.DSN)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close(context.Background())
		found, err := conn.Query(t.Context(), `SELECT s.id::text, o.order_no, s.payment_amount::text, s.amount::text,
			ARRAY(SELECT kind || ' ' || amount || ' ' || vat FROM settlement_line l WHERE l.settlement_id = s.id ORDER BY l.id)
			FROM settlement s JOIN orders o ON o.id = s.order_id WHERE s.merchant_id = $1`, merchant)
		if err != nil {
			t.Fatal(err)
		}
		for found.Next() {
			var r row
			check(t, func() error { return found.Scan(&r.id, &r.orderNo, &r.paymentAmount, &r.amount, &r.lines) })
			rows = append(rows, r)
		}
		check(t, found.Err)
	}
	return byID(rows)
}

func byID(rows []row) []row {
	slices.SortFunc(rows, func(a, b row) int { return strings.Compare(fmt.Sprintf("%20s", a.id), fmt.Sprintf("%20s", b.id)) })
	return rows
}

type jsonRow struct {
	ID      json.Number `json:"settlementId"`
	OrderNo string      `json:"orderNo"`
	Payment json.Number `json:"paymentAmount"`
	Amount  json.Number `json:"amount"`
	Lines   []struct {
		Kind   string
		Amount json.Number
		VAT    json.Number
	}
}

func (j jsonRow) row() row {
	r := row{id: string(j.ID), orderNo: j.OrderNo, paymentAmount: string(j.Payment), amount: string(j.Amount), lines: []string{}}
	for _, l := range j.Lines {
		r.lines = append(r.lines, fmt.Sprintf("%s %s %s", l.Kind, l.Amount, l.VAT))
	}
	return r
}

// TestExportsAreWhatTheShardsSay: all four formats hold the rows and the
// amounts of SQL, to the last digit, read back by readers that are not ours.
func TestExportsAreWhatTheShardsSay(t *testing.T) {
	h := newHouse(t)
	shards := h.project(t, 20000)
	q := h.serve(t)
	key := h.key(t, "--all")
	want := rowsOf(t, shards, 1)
	if len(want) < 400 || !slices.ContainsFunc(want, func(r row) bool { return len(r.amount) > 16 }) {
		t.Fatalf("the sample is too tame: %d rows, or no amount of over 15 digits", len(want))
	}
	f := func(format string, lossless bool, read func(t *testing.T, body string) []row) {
		t.Run(format, func(t *testing.T) {
			answer, body := q.get(t, key, "/v1/settlement/export."+format+"?merchantId=1")
			if answer.StatusCode != 200 || answer.Trailer.Get("Prejoin-Rows") != fmt.Sprint(len(want)) {
				t.Fatalf("status %d, trailers %v", answer.StatusCode, answer.Trailer)
			}
			compare(t, want, byID(read(t, body)), lossless)
		})
	}
	f("ndjson", true, func(t *testing.T, body string) (rows []row) {
		for d := json.NewDecoder(strings.NewReader(body)); ; {
			var j jsonRow
			switch err := d.Decode(&j); err {
			case nil:
				rows = append(rows, j.row())
			case io.EOF:
				return rows
			default:
				t.Fatal(err)
			}
		}
	})
	f("json", true, func(t *testing.T, body string) (rows []row) {
		var list []jsonRow
		check(t, func() error { return json.Unmarshal([]byte(body), &list) })
		for _, j := range list {
			rows = append(rows, j.row())
		}
		return rows
	})
	f("csv", true, func(t *testing.T, body string) []row {
		table, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(body, "\ufeff"))).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		return tableRows(t, table)
	})
	f("xlsx", false, func(t *testing.T, body string) []row {
		byTealeg := tableRows(t, tealegTable(t, body))
		compare(t, byTealeg, tableRows(t, foreignTable(t, body)), false)
		return byTealeg
	})
}

// tableRows finds the columns by their names in the first line.
func tableRows(t *testing.T, table [][]string) (rows []row) {
	t.Helper()
	at := func(name string) int {
		i := slices.Index(table[0], name)
		if i < 0 {
			t.Fatalf("no column %s in %v", name, table[0])
		}
		return i
	}
	id, order, payment, amount, lines := at("settlementId"), at("orderNo"), at("paymentAmount"), at("amount"), at("lines")
	for _, cells := range table[1:] {
		j := jsonRow{ID: json.Number(cells[id]), OrderNo: cells[order], Payment: json.Number(cells[payment]), Amount: json.Number(cells[amount])}
		check(t, func() error { return json.Unmarshal([]byte(cells[lines]), &j.Lines) })
		rows = append(rows, j.row())
	}
	return rows
}

func tealegTable(t *testing.T, book string) (table [][]string) {
	t.Helper()
	f, err := tealeg.OpenBinary([]byte(book))
	if err != nil {
		t.Fatal(err)
	}
	check(t, func() error {
		return f.Sheets[0].ForEachRow(func(r *tealeg.Row) error {
			var cells []string
			err := r.ForEachCell(func(c *tealeg.Cell) error { cells = append(cells, c.Value); return nil })
			table = append(table, cells)
			return err
		})
	})
	return table
}

func foreignTable(t *testing.T, book string) (table [][]string) {
	t.Helper()
	for _, cells := range testenv.Workbook(t, []byte(book), "normal") {
		line := make([]string, len(cells))
		for i, c := range cells {
			switch {
			case c == nil:
			case c.Number != nil:
				line[i] = *c.Number
			case c.Text != nil:
				line[i] = *c.Text
			case c.Time != nil:
				line[i] = *c.Time
			}
		}
		table = append(table, line)
	}
	return table
}

// compare wants the same rows; amounts as the same text or, where a format has
// numbers instead of digits, as exactly the same number.
func compare(t *testing.T, want, got []row, digits bool) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d rows, want %d", len(got), len(want))
	}
	for i := range want {
		w, g := want[i], got[i]
		if !digits {
			g.paymentAmount, g.amount = sameNumber(g.paymentAmount, w.paymentAmount), sameNumber(g.amount, w.amount)
		}
		if w.String() != g.String() {
			t.Fatalf("row %d:\n got %s\nwant %s", i, g, w)
		}
	}
}

func sameNumber(got, want string) string {
	g, ok := new(big.Rat).SetString(got)
	w, _ := new(big.Rat).SetString(want)
	if ok && w != nil && g.Cmp(w) == 0 {
		return want
	}
	return got
}
