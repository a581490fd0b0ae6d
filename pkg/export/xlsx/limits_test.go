package xlsx_test

import (
	"math"
	"strings"
	"testing"

	tealeg "github.com/tealeg/xlsx/v3"
	"go.mongodb.org/mongo-driver/bson/primitive"

	"prejoin/pkg/export"
)

// TestLimits: what Excel has a number for is a number, the next value is text.
func TestLimits(t *testing.T) {
	const day = 86_400_000
	for _, c := range []struct {
		field  string
		v      any
		want   string
		number bool
	}{
		{"payDue", primitive.DateTime(-25_508 * day), "61", true}, // 1900-03-01
		{"payDue", primitive.DateTime(-25_509 * day), "1900-02-28", false},
		{"payDue", primitive.DateTime(2_932_896 * day), "2958465", true}, // 9999-12-31
		{"payDue", primitive.DateTime(2_932_897 * day), "+010000-01-01", false},
		{"orderedAt", primitive.DateTime(-25_508 * day), "61", true},
		{"orderedAt", primitive.DateTime(-25_508*day - 1), "1900-02-28T23:59:59.999Z", false},
		{"orderedAt", primitive.DateTime(2_932_897*day - 1), "2958465.99999998843", true},
		{"orderedAt", primitive.DateTime(2_932_897 * day), "+010000-01-01T00:00:00.000Z", false},
		{"orderedAt", primitive.DateTime(1), "25569.00000001157", true},
		{"orderedAt", primitive.DateTime(math.MinInt64), "-292275055-05-16T16:47:04.192Z", false},
		{"orderedAt", primitive.DateTime(math.MaxInt64), "+292278994-08-17T07:12:55.807Z", false},
		{"_id", int64(999_999_999_999_999), "999999999999999", true},
		{"_id", int64(9_007_199_254_740_993), "9007199254740993", false},
		{"_id", int64(math.MinInt64), "-9223372036854775808", false},
		{"_id", int64(math.MaxInt64), "9223372036854775807", false},
		{"amount", dec("9999999999999.99"), "9999999999999.99", true},
		{"amount", dec("99999999999999.99"), "99999999999999.99", false},
		{"amount", dec("NaN"), "NaN", false}, {"amount", dec("-Infinity"), "-Infinity", false},
		{"amount", dec("-0.00"), "-0.00", false}, {"amount", dec("0.00"), "0.00", true},
		{"amount", "1.00", "1.00", false}, {"amount", 1.5, "1.5", false}, {"orderNo", int64(5), "5", false},
	} {
		e := encoder(t, export.Config{Columns: []string{"saleId", "orderNo", "orderedAt", "payDue", "amount"}})
		row := cells(t, write(t, e, with(sale(1), c.field, c.v)))["정산 내역"][1]
		cell := row[map[string]int{"_id": 0, "orderNo": 1, "orderedAt": 2, "payDue": 3, "amount": 4}[c.field]]
		if number := cell.Type() == tealeg.CellTypeNumeric; cell.Value != c.want || number != c.number {
			t.Errorf("%s %v: got %q, number %v", c.field, c.v, cell.Value, number)
		}
		if lost := len(e.Reported()) == 1; lost == c.number {
			t.Errorf("%s %v: reported %v", c.field, c.v, e.Reported())
		}
	}
}

// TestSpaceIsKept: XML readers may trim white space at the ends otherwise.
func TestSpaceIsKept(t *testing.T) {
	for _, s := range []string{" a", "a ", "\na", "a\t"} {
		sheet := parts(t, write(t, encoder(t, export.Config{}), with(sale(1), "productName", s)))["xl/worksheets/sheet1.xml"]
		if want := `<t xml:space="preserve">` + s + "</t>"; !strings.Contains(sheet, want) {
			t.Errorf("%q: no %q", s, want)
		}
	}
}
