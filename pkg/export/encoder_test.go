package export_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/primitive"

	"prejoin/pkg/export"
)

func drain(t testing.TB, enc export.Encoder) string {
	t.Helper()
	var out bytes.Buffer
	if err := enc.Flush(&out); err != nil {
		t.Fatal(err)
	}
	if enc.Buffered() != 0 {
		t.Fatalf("%d bytes stay buffered after a flush", enc.Buffered())
	}
	return out.String()
}

func seoul(t testing.TB) *time.Location {
	t.Helper()
	loc, err := time.LoadLocation("Asia/Seoul")
	if err != nil {
		t.Fatal(err)
	}
	return loc
}

const wholeLine = `{"saleId":9007199254740993,"orderNo":"0012345678901234","merchantName":"가맹점 \"1\", 본점",` +
	`"productName":"한글 상품\r\n둘째 줄 😀 \u2028 =1+1","orderedAt":"2026-12-01T00:04:05.678+09:00","payDue":"2026-12-02",` +
	`"paidOut":null,"status":"PAID","installment":null,"open":true,"paymentAmount":9999999999999999.99,"amount":-120.50,` +
	`"lines":[{"kind":"PG_FEE","base":100.00,"rate":0.02200,"amount":2.20},{"kind":"SALES_FEE","base":100.00,"rate":0.05000,"amount":5.00}],` +
	`"holdReason":null}`

func TestNDJSONIsExact(t *testing.T) {
	enc := export.NewNDJSON(layout(t, export.Config{Location: seoul(t)}), true)
	got := encode(t, enc, whole())
	if want := wholeLine + "\n" + `{"end":true,"rows":1,"digest":"abc"}` + "\n"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if r := enc.Reported(); len(r) != 0 {
		t.Errorf("a whole document is reported: %v", r)
	}
}

func TestJSONClosesOnlyAtTheEnd(t *testing.T) {
	l := layout(t, export.Config{Location: seoul(t)})
	for n, want := range []string{"[\n]\n", "[\n" + wholeLine + "\n]\n", "[\n" + wholeLine + ",\n" + wholeLine + "\n]\n"} {
		docs := []bson.D{whole(), whole()}[:n]
		if got := encode(t, export.NewJSON(l), docs...); got != want {
			t.Errorf("%d rows: got %q, want %q", n, got, want)
		}
	}
	cut := export.NewJSON(l)
	_ = cut.Begin()
	_ = cut.Row(raw(whole()))
	if json.Valid([]byte(drain(t, cut))) {
		t.Error("a cut file is valid JSON")
	}
}

// TestOtherOrders moves keys, repeats the encoder on other shapes in between, and
// wants the same line each time.
func TestOtherOrders(t *testing.T) {
	enc := export.NewNDJSON(layout(t, export.Config{Location: seoul(t)}), false)
	turned := whole()
	for i, j := 0, len(turned)-1; i < j; i, j = i+1, j-1 {
		turned[i], turned[j] = turned[j], turned[i]
	}
	more := append(bson.D{{Key: "zz", Value: 1}, {Key: "amount2", Value: "x"}}, turned...)
	for _, d := range []bson.D{whole(), turned, whole(), more, turned, whole()} {
		if got := encode(t, enc, d); got != wholeLine+"\n" {
			t.Fatalf("got %s", got)
		}
	}
}

func TestMissingIsNullAndReported(t *testing.T) {
	enc := export.NewNDJSON(layout(t, export.Config{Columns: []string{"saleId", "amount"}}), false)
	got := encode(t, enc, bson.D{{Key: "_id", Value: int64(1)}}, bson.D{{Key: "amount", Value: dec("1.0")}})
	if want := "{\"saleId\":1,\"amount\":null}\n{\"saleId\":null,\"amount\":1.0}\n"; got != want {
		t.Errorf("got %s want %s", got, want)
	}
	want := []export.Loss{{Column: "amount", Kind: export.LossMissing, Count: 1}, {Column: "saleId", Kind: export.LossMissing, Count: 1}}
	if r := enc.Reported(); !reflect.DeepEqual(r, want) {
		t.Errorf("reported %v", r)
	}
}

// TestOtherTypes puts values of other types into each field: all leave as text, all are counted.
func TestOtherTypes(t *testing.T) {
	oid, _ := primitive.ObjectIDFromHex("65a1b2c3d4e5f60718293a4b")
	for _, c := range []struct {
		field string
		v     any
		want  string
	}{
		{"saleId", int32(5), `"5"`}, {"saleId", "x\"y", `"x\"y"`}, {"amount", 1.25, `"1.25"`}, {"amount", int64(7), `"7"`},
		{"amount", dec("NaN"), `"NaN"`}, {"amount", dec("-Infinity"), `"-Infinity"`},
		{"payDue", primitive.DateTime(86_400_001), `"1970-01-02T00:00:00.001Z"`}, {"payDue", "2026-01-01", `"2026-01-01"`},
		{"orderNo", int64(12), `"12"`}, {"open", "yes", `"yes"`}, {"orderNo", oid, `"{\"$oid\":\"65a1b2c3d4e5f60718293a4b\"}"`},
		{"orderNo", bson.D{{Key: "a", Value: int32(1)}}, `"{\"a\":{\"$numberInt\":\"1\"}}"`},
		{"lines", "none", `"none"`}, {"lines", bson.A{int32(3)}, `["3"]`}, {"orderNo", "a\xffb", `"a\ufffdb"`},
	} {
		key := c.field
		if key == "saleId" {
			key = "_id"
		}
		enc := export.NewNDJSON(layout(t, export.Config{Columns: []string{c.field}}), false)
		got := encode(t, enc, bson.D{{Key: key, Value: c.v}})
		if want := `{"` + c.field + `":` + c.want + "}\n"; got != want {
			t.Errorf("%s %v: got %s want %s", c.field, c.v, got, want)
		}
		if r := enc.Reported(); len(r) != 1 || r[0].Count != 1 {
			t.Errorf("%s %v: reported %v", c.field, c.v, r)
		}
	}
}

func TestCSVIsExact(t *testing.T) {
	enc := export.NewCSV(layout(t, export.Config{Location: seoul(t), Lang: "ko", Lines: export.LinesNone}), export.CSVConfig{})
	got := encode(t, enc, whole())
	want := "\uFEFF정산번호,주문번호,merchantName,productName,orderedAt,payDue,paidOut,status,installment,open,paymentAmount,금액,holdReason\r\n" +
		"9007199254740993,0012345678901234,\"가맹점 \"\"1\"\", 본점\",\"한글 상품\r\n둘째 줄 😀 \u2028 =1+1\"," +
		"2026-12-01T00:04:05.678+09:00,2026-12-02,,PAID,,true,9999999999999999.99,-120.50,\r\n"
	if got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestCSVLines(t *testing.T) {
	cfg := export.Config{Columns: []string{"saleId", "lines.amount", "amount", "lines.kind"}}
	empty := with(whole(), "lines", bson.A{})
	for mode, want := range map[string]string{
		export.LinesRows: "saleId,lines.amount,amount,lines.kind\r\n9007199254740993,2.20,-120.50,PG_FEE\r\n" +
			"9007199254740993,5.00,-120.50,SALES_FEE\r\n9007199254740993,,-120.50,\r\n",
		export.LinesJSON: "saleId,lines,amount\r\n9007199254740993,\"[{\"\"amount\"\":2.20,\"\"kind\"\":\"\"PG_FEE\"\"}," +
			"{\"\"amount\"\":5.00,\"\"kind\"\":\"\"SALES_FEE\"\"}]\",-120.50\r\n9007199254740993,[],-120.50\r\n",
		export.LinesNone: "saleId,amount\r\n9007199254740993,-120.50\r\n9007199254740993,-120.50\r\n",
	} {
		cfg.Lines = mode
		if got := encode(t, export.NewCSV(layout(t, cfg), export.CSVConfig{NoBOM: true}), whole(), empty); got != want {
			t.Errorf("%s: got %q want %q", mode, got, want)
		}
	}
}

// TestHeaders: a child's label stands alone unless another column has the same.
func TestHeaders(t *testing.T) {
	cfg := export.Config{Columns: []string{"amount", "lines.kind", "lines.amount", "lines.rate"}, Lines: export.LinesRows}
	for lang, want := range map[string]string{"": "amount lines.kind lines.amount lines.rate", "ko": "금액 종류 수수료 내역 금액 rate", "en": "Amount Kind amount rate"} {
		cfg.Lang = lang
		var got []string
		for _, c := range layout(t, cfg).Columns() {
			got = append(got, c.Header)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: got %q", lang, got)
		}
	}
}

func TestCSVTextIsExactOrGuarded(t *testing.T) {
	cfg := export.Config{Columns: []string{"orderNo", "amount"}}
	doc := func(s string) bson.D {
		return bson.D{{Key: "orderNo", Value: s}, {Key: "amount", Value: dec("-1.00")}}
	}
	texts := []string{"=1+1", "+1", "-1", "@x", "\tx", "\rx", "'x", "x=1", "", " x", "x ", `"`, "a,b", "a\nb"}
	for _, guard := range []bool{false, true} {
		enc := export.NewCSV(layout(t, cfg), export.CSVConfig{NoBOM: true, Guard: guard})
		var docs []bson.D
		for _, s := range texts {
			docs = append(docs, doc(s))
		}
		recs, err := csv.NewReader(strings.NewReader(encode(t, enc, docs...))).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range texts {
			want := s
			if guard && i < 7 {
				want = "'" + s
			}
			if got := recs[i+1]; got[0] != want || got[1] != "-1.00" {
				t.Errorf("guard %v, %q: got %q", guard, s, got)
			}
		}
		if r := enc.Reported(); guard != (len(r) == 1 && r[0] == export.Loss{Column: "orderNo", Kind: export.LossGuard, Count: 7}) {
			t.Errorf("guard %v: reported %v", guard, r)
		}
	}
}

func TestCSVOtherTypes(t *testing.T) {
	l := layout(t, export.Config{Columns: []string{"saleId", "amount", "payDue", "holdReason"}})
	enc := export.NewCSV(l, export.CSVConfig{NoBOM: true})
	got := encode(t, enc, bson.D{{Key: "_id", Value: "x,y"}, {Key: "amount", Value: dec("NaN")}, {Key: "payDue", Value: int32(3)}})
	if want := "saleId,amount,payDue,holdReason\r\n\"x,y\",NaN,3,\r\n"; got != want {
		t.Errorf("got %q want %q", got, want)
	}
	if r := enc.Reported(); len(r) != 4 || r[0].Kind != export.LossFinite || r[1].Kind != export.LossMissing {
		t.Errorf("reported %v", r)
	}
}

func TestCSVOneColumnKeepsItsRows(t *testing.T) {
	enc := export.NewCSV(layout(t, export.Config{Columns: []string{"holdReason"}}), export.CSVConfig{EndLine: true})
	recs, err := csv.NewReader(strings.NewReader(encode(t, enc, whole(), whole()))).ReadAll()
	if err != nil || len(recs) != 4 || recs[3][0] != "#end rows=2 digest=abc" {
		t.Errorf("got %q, %v", recs, err)
	}
}

func TestLabels(t *testing.T) {
	cfg := export.Config{Columns: []string{"status"}, Labels: true, Lang: "ko"}
	enc := export.NewNDJSON(layout(t, cfg), false)
	got := encode(t, enc, bson.D{{Key: "status", Value: "PAID"}}, bson.D{{Key: "status", Value: "NEW"}})
	if want := "{\"status\":\"PAID 라벨\"}\n{\"status\":\"NEW\"}\n"; got != want {
		t.Errorf("got %s", got)
	}
	if r := enc.Reported(); len(r) != 1 || r[0].Kind != export.LossLabel {
		t.Errorf("reported %v", r)
	}
}

func TestLayoutRefuses(t *testing.T) {
	refuse := func(want string, cfg export.Config) {
		t.Helper()
		if _, err := export.NewLayout(sale(), cfg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: got %v, want %q", cfg, err, want)
		}
	}
	refuse(`column "amunt" is unknown: write one of saleId,`, export.Config{Columns: []string{"amunt"}})
	refuse(`column "_p" is unknown`, export.Config{Columns: []string{"_p"}})
	refuse(`column "_id" is unknown`, export.Config{Columns: []string{"_id"}})
	refuse(`column "lines.x" is unknown`, export.Config{Columns: []string{"lines.x"}})
	refuse(`column "amount.x" is unknown`, export.Config{Columns: []string{"amount.x"}})
	refuse(`"amount" is given twice`, export.Config{Columns: []string{"amount", "amount"}})
	refuse(`"lines.kind" is given twice`, export.Config{Columns: []string{"lines.kind", "lines"}})
	refuse("no column is left", export.Config{Columns: []string{"lines"}, Lines: export.LinesNone})
	refuse("line mode", export.Config{Lines: "all"})
	refuse("language", export.Config{Lang: "de"})
}

func TestBrokenDocument(t *testing.T) {
	l := layout(t, export.Config{})
	good := raw(whole())
	for n := range good {
		for _, enc := range []export.Encoder{export.NewNDJSON(l, false), export.NewJSON(l), export.NewCSV(l, export.CSVConfig{})} {
			if err := enc.Row(good[:n]); err == nil {
				t.Fatalf("%T took a document of %d of %d bytes", enc, n, len(good))
			}
		}
	}
}
