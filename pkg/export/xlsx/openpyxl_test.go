package xlsx_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/primitive"

	"prejoin/pkg/export"
	"prejoin/pkg/testenv"
)

// TestForeignReader sends random documents through a workbook and compares what
// openpyxl reads with what was stored, to the last digit.
func TestForeignReader(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	docs := []bson.D{with(sale(1), "productName", strings.Repeat("긴 글 ", 20_000))}
	for i := range 800 {
		docs = append(docs, random(r, int64(i)))
	}
	e := encoder(t, export.Config{Columns: []string{"saleId", "orderNo", "productName", "orderedAt", "payDue", "status", "open", "amount", "rate"},
		Labels: true, Lang: "ko", Location: seoul()})
	book := write(t, e, docs...)
	parts(t, book)
	reported := map[string]int64{}
	for _, l := range e.Reported() {
		reported[l.Column+" "+l.Kind] = l.Count
	}
	if reported["productName "+export.LossCut] != 1 || reported["amount "+export.LossDigits] == 0 || reported["payDue "+export.LossDate] == 0 {
		t.Errorf("reported %v", reported)
	}
	for _, mode := range []string{"normal", "read-only"} {
		rows := testenv.Workbook(t, book, mode)
		if len(rows) != len(docs)+1 {
			t.Fatalf("%s: %d rows, want %d", mode, len(rows), len(docs)+1)
		}
		seen := map[string]int64{}
		for i, d := range docs {
			checkRow(t, d, rows[i+1], seen)
		}
		if fmt.Sprint(seen) != fmt.Sprint(reported) {
			t.Errorf("%s: values that are not as stored: %v, reported: %v", mode, seen, reported)
		}
	}
}

func random(r *rand.Rand, id int64) bson.D {
	d := sale(id)
	if r.IntN(3) > 0 {
		d = with(d, "_id", int64(r.Uint64())>>r.IntN(64))
	}
	for _, field := range []string{"amount", "rate"} {
		d = with(d, field, randomDecimal(r))
	}
	for _, field := range []string{"orderNo", "productName"} {
		d = with(d, field, randomText(r))
	}
	d = with(d, "orderedAt", primitive.DateTime(r.Int64N(400_000_000_000_000)-100_000_000_000_000))
	d = with(d, "payDue", primitive.DateTime((r.Int64N(4_000_000)-800_000)*86_400_000))
	for i := range d {
		if r.IntN(12) == 0 && d[i].Key != "_id" && d[i].Key != "_p" {
			d[i].Value = nil
		}
	}
	return d
}

func randomDecimal(r *rand.Rand) primitive.Decimal128 {
	digits := ""
	for range r.IntN([]int{3, 12, 18, 34}[r.IntN(4)]) + 1 {
		digits += strconv.Itoa(r.IntN(10))
	}
	if at := r.IntN(len(digits)); at > 0 {
		digits = digits[:at] + "." + digits[at:]
	}
	return dec([]string{"", "-"}[r.IntN(2)] + digits)
}

func randomText(r *rand.Rand) string {
	samples := []string{"=1+1", "+1", "-1", "@SUM(A1)", "_x0041_", "\r\n", "\n", "\t", " ", "", "한글", "😀", "<b>&amp;", "\x00", "\x1f", "\"", "'",
		"\uffff", "\ufffd", "0012345678901234", "_", "x", "1E5", "2026-01-01", "TRUE"}
	s := ""
	for range r.IntN(4) + 1 {
		s += samples[r.IntN(len(samples))]
	}
	return s
}

func checkRow(t *testing.T, d bson.D, row []*testenv.Cell, seen map[string]int64) {
	t.Helper()
	m := map[string]any{}
	for _, e := range d {
		m[e.Key] = e.Value
	}
	row = append(row, make([]*testenv.Cell, 9)...) // read-only mode ends a row at its last cell
	checkNumber(t, "saleId", fmt.Sprint(m["_id"]), row[0], seen)
	checkText(t, "orderNo", m["orderNo"], row[1], seen)
	checkText(t, "productName", m["productName"], row[2], seen)
	checkMoment(t, "orderedAt", m["orderedAt"], row[3], seoul(), "2006-01-02T15:04:05.000Z07:00", seen)
	checkMoment(t, "payDue", m["payDue"], row[4], time.UTC, "2006-01-02", seen)
	if v := m["open"]; v == nil != (row[6] == nil) || v != nil && *row[6].Bool != v {
		t.Errorf("open %v read as %v", v, row[6])
	}
	for i, field := range []string{"amount", "rate"} {
		v, text := m[field], ""
		if v != nil {
			text = v.(primitive.Decimal128).String()
		}
		checkNumber(t, field, text, row[7+i], seen)
	}
}

func checkNumber(t *testing.T, field, want string, c *testenv.Cell, seen map[string]int64) {
	t.Helper()
	switch {
	case want == "" || c == nil:
		if want != "" || c != nil {
			t.Errorf("%s %q read as %v", field, want, c)
		}
	case c.Text != nil:
		seen[field+" "+export.LossDigits]++
		if *c.Text != want {
			t.Errorf("%s %s read as the text %q", field, want, *c.Text)
		}
	default:
		stored, _ := new(big.Rat).SetString(want)
		read, ok := new(big.Rat).SetString(*c.Number)
		if !ok || stored.Cmp(read) != 0 {
			t.Errorf("%s %s read as the number %s", field, want, *c.Number)
		}
	}
}

var escaped = regexp.MustCompile(`_x[0-9A-Fa-f]{4}_`)

// checkText undoes _xHHHH_, which Excel and LibreOffice do themselves.
func checkText(t *testing.T, field string, v any, c *testenv.Cell, seen map[string]int64) {
	t.Helper()
	want, _ := v.(string)
	got := ""
	if c != nil && c.Text == nil {
		t.Errorf("%s %q was not read as text: %+v", field, want, c)
		return
	} else if c != nil {
		got = escaped.ReplaceAllStringFunc(*c.Text, func(s string) string {
			n, _ := strconv.ParseUint(s[2:6], 16, 16)
			return string(rune(n))
		})
	}
	if head, cut := strings.CutSuffix(got, fmt.Sprintf(" …[cut here: %d characters; NDJSON and CSV have all]", utf8.RuneCountInString(want))); cut {
		seen[field+" "+export.LossCut]++
		want, got = want[:min(len(head), len(want))], head
	}
	if got != want {
		t.Errorf("%s %q read as %q", field, want, got)
	}
}

func checkMoment(t *testing.T, field string, v any, c *testenv.Cell, loc *time.Location, format string, seen map[string]int64) {
	t.Helper()
	if v == nil || c == nil {
		if v != nil || c != nil {
			t.Errorf("%s %v read as %v", field, v, c)
		}
		return
	}
	at := v.(primitive.DateTime).Time().In(loc)
	want := at.Format("2006-01-02T15:04:05.000")
	got := ""
	if c.Time != nil {
		got = *c.Time
	} else if c.Text != nil {
		seen[field+" "+export.LossDate]++
		want, got = iso(at, format), *c.Text
	}
	if got != want {
		t.Errorf("%s %s read as %q", field, want, got)
	}
}

// iso is the text of a time: years outside 0 to 9999 with a sign and six digits,
// UTC where the zone's offset has seconds.
func iso(at time.Time, format string) string {
	if _, offset := at.Zone(); offset%60 != 0 {
		at = at.UTC()
	}
	if y := at.Year(); y < 0 || y > 9999 {
		rest := at.Format(format[4:])
		return fmt.Sprintf("%+07d%s", y, rest)
	}
	return at.Format(format)
}
