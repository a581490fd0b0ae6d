package xlsx_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/primitive"

	"prejoin/pkg/export"
	"prejoin/pkg/export/xlsx"
	"prejoin/pkg/readmodel"
)

func model() *readmodel.Model {
	lines := &readmodel.Child{Field: "lines", Label: readmodel.Label{KO: "수수료"}, Fields: []readmodel.Field{
		{Name: "kind", Type: readmodel.Text, Label: readmodel.Label{KO: "종류"}},
		{Name: "amount", Type: readmodel.Decimal, Scale: 2, Label: readmodel.Label{KO: "금액"}},
	}}
	return &readmodel.Model{Name: "sale", Version: 1, ID: "saleId", Fields: []readmodel.Field{
		{Name: "saleId", Type: readmodel.Int64, Label: readmodel.Label{EN: "Sale", KO: "정산번호"}},
		{Name: "orderNo", Type: readmodel.Text, Label: readmodel.Label{EN: "Order no", KO: "주문번호"}},
		{Name: "productName", Type: readmodel.Text, Label: readmodel.Label{EN: "Product", KO: "상품명"}},
		{Name: "orderedAt", Type: readmodel.Timestamp, Label: readmodel.Label{EN: "Ordered", KO: "주문일시"}},
		{Name: "payDue", Type: readmodel.Date, Label: readmodel.Label{EN: "Pay due", KO: "지급예정일"}},
		{Name: "status", Type: readmodel.Enum, Values: []readmodel.EnumValue{{Value: "PAID", Label: readmodel.Label{EN: "Paid", KO: "지급완료"}}}},
		{Name: "open", Type: readmodel.Bool},
		{Name: "amount", Type: readmodel.Decimal, Scale: 2, Format: "#,##0.##", Label: readmodel.Label{EN: "Amount", KO: "정산금액"}},
		{Name: "rate", Type: readmodel.Decimal, Scale: 5, Label: readmodel.Label{KO: "요율"}},
		{Name: "lines", Type: readmodel.Array, Child: lines},
	}}
}

func dec(s string) primitive.Decimal128 {
	d, err := primitive.ParseDecimal128(s)
	if err != nil {
		panic(err)
	}
	return d
}

func raw(t testing.TB, d bson.D) bson.Raw {
	t.Helper()
	b, err := bson.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

var ordered = time.Date(2026, 11, 30, 15, 4, 5, 678e6, time.UTC)

func sale(id int64) bson.D {
	return bson.D{
		{Key: "_id", Value: id}, {Key: "orderNo", Value: fmt.Sprintf("%016d", id)},
		{Key: "productName", Value: "여름 한정 무료배송 린넨 셔츠 화이트"}, {Key: "orderedAt", Value: primitive.NewDateTimeFromTime(ordered)},
		{Key: "payDue", Value: primitive.NewDateTimeFromTime(time.Date(2026, 12, 2, 0, 0, 0, 0, time.UTC))},
		{Key: "status", Value: "PAID"}, {Key: "open", Value: true}, {Key: "amount", Value: dec("1234567.50")}, {Key: "rate", Value: dec("0.02200")},
		{Key: "lines", Value: bson.A{}}, {Key: "_p", Value: bson.D{{Key: "s", Value: "shard0"}}},
	}
}

func with(d bson.D, key string, v any) bson.D {
	out := append(bson.D(nil), d...)
	for i := range out {
		if out[i].Key == key {
			out[i].Value = v
		}
	}
	return out
}

func seoul() *time.Location {
	loc, err := time.LoadLocation("Asia/Seoul")
	if err != nil {
		panic(err)
	}
	return loc
}

func encoder(t testing.TB, cfg export.Config) *xlsx.Encoder {
	t.Helper()
	l, err := export.NewLayout(model(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	e, err := xlsx.New(l, xlsx.Config{Sheet: "정산 내역", Title: "정산 <내역>"})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// write makes a workbook, flushing after each row as a slow export does.
func write(t testing.TB, e *xlsx.Encoder, docs ...bson.D) []byte {
	t.Helper()
	var out bytes.Buffer
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	check(e.Begin())
	for _, d := range docs {
		check(e.Row(raw(t, d)))
		check(e.Flush(&out))
	}
	check(e.End(export.Summary{Rows: int64(len(docs))}))
	check(e.Flush(&out))
	return out.Bytes()
}
