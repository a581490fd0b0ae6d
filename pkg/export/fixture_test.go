package export_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/primitive"

	"prejoin/pkg/export"
	"prejoin/pkg/readmodel"
)

// sale is a model of the settlement's shape: every type, an enum with labels, fee lines.
func sale() *readmodel.Model {
	lines := &readmodel.Child{Field: "lines", Label: readmodel.Label{EN: "Fees", KO: "수수료 내역"}, Fields: []readmodel.Field{
		{Name: "kind", Type: readmodel.Enum, Values: values("PG_FEE", "SALES_FEE"), Label: readmodel.Label{EN: "Kind", KO: "종류"}},
		{Name: "base", Type: readmodel.Decimal, Scale: 2},
		{Name: "rate", Type: readmodel.Decimal, Scale: 5},
		{Name: "amount", Type: readmodel.Decimal, Scale: 2, Label: readmodel.Label{KO: "금액"}},
	}}
	return &readmodel.Model{Name: "sale", Version: 1, ID: "saleId", Fields: []readmodel.Field{
		{Name: "saleId", Type: readmodel.Int64, Label: readmodel.Label{EN: "Sale", KO: "정산번호"}},
		{Name: "orderNo", Type: readmodel.Text, Label: readmodel.Label{KO: "주문번호"}},
		{Name: "merchantName", Type: readmodel.Text},
		{Name: "productName", Type: readmodel.Text},
		{Name: "orderedAt", Type: readmodel.Timestamp},
		{Name: "payDue", Type: readmodel.Date},
		{Name: "paidOut", Type: readmodel.Date},
		{Name: "status", Type: readmodel.Enum, Values: values("PAID", "HELD")},
		{Name: "installment", Type: readmodel.Int64},
		{Name: "open", Type: readmodel.Bool},
		{Name: "paymentAmount", Type: readmodel.Decimal, Scale: 2, Format: "#,##0"},
		{Name: "amount", Type: readmodel.Decimal, Scale: 2, Format: "#,##0", Label: readmodel.Label{EN: "Amount", KO: "금액"}},
		{Name: "lines", Type: readmodel.Array, Child: lines},
		{Name: "holdReason", Type: readmodel.Text},
	}}
}

func values(codes ...string) (vs []readmodel.EnumValue) {
	for _, c := range codes {
		vs = append(vs, readmodel.EnumValue{Value: c, Label: readmodel.Label{EN: c + " label", KO: c + " 라벨"}})
	}
	return vs
}

func dec(s string) primitive.Decimal128 {
	d, err := primitive.ParseDecimal128(s)
	if err != nil {
		panic(err)
	}
	return d
}

func date(s string) primitive.DateTime {
	t, err := time.Parse("2006-01-02", s)
	if err != nil {
		panic(err)
	}
	return primitive.NewDateTimeFromTime(t)
}

func raw(d bson.D) bson.Raw {
	b, err := bson.Marshal(d)
	if err != nil {
		panic(err)
	}
	return b
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

func fee(kind, base, rate, amount string) bson.D {
	return bson.D{{Key: "kind", Value: kind}, {Key: "base", Value: dec(base)}, {Key: "rate", Value: dec(rate)}, {Key: "amount", Value: dec(amount)}}
}

var ordered = time.Date(2026, 11, 30, 15, 4, 5, 678e6, time.UTC)

// whole is a document as the projector writes it.
func whole() bson.D {
	return bson.D{
		{Key: "_id", Value: int64(9007199254740993)}, {Key: "orderNo", Value: "0012345678901234"},
		{Key: "merchantName", Value: "가맹점 \"1\", 본점"}, {Key: "productName", Value: "한글 상품\r\n둘째 줄 😀 \u2028 =1+1"},
		{Key: "orderedAt", Value: primitive.NewDateTimeFromTime(ordered)},
		{Key: "payDue", Value: date("2026-12-02")}, {Key: "paidOut", Value: nil},
		{Key: "status", Value: "PAID"}, {Key: "installment", Value: nil}, {Key: "open", Value: true},
		{Key: "paymentAmount", Value: dec("9999999999999999.99")}, {Key: "amount", Value: dec("-120.50")},
		{Key: "lines", Value: bson.A{fee("PG_FEE", "100.00", "0.02200", "2.20"), fee("SALES_FEE", "100.00", "0.05000", "5.00")}},
		{Key: "holdReason", Value: nil},
		{Key: "_p", Value: bson.D{{Key: "v", Value: bson.D{{Key: "e", Value: int64(1)}, {Key: "r", Value: int64(2)}}}, {Key: "s", Value: "shard0"}}},
	}
}

// realistic makes n documents like a payment company's.
func realistic(n int) []bson.Raw {
	r := rand.New(rand.NewPCG(1, 2))
	docs := make([]bson.Raw, n)
	for i := range docs {
		cents := r.Int64N(100_000_000) + 1
		d := whole()
		d = with(d, "_id", int64(i)*64+7)
		d = with(d, "orderNo", fmt.Sprintf("%016d", r.Int64N(1e15)))
		d = with(d, "merchantName", "가맹점 "+strconv.Itoa(i%500)+"호")
		d = with(d, "productName", "여름 한정 무료배송 린넨 셔츠 "+strconv.Itoa(i%977)+"번 색상, 사이즈 L")
		d = with(d, "orderedAt", primitive.NewDateTimeFromTime(ordered.Add(time.Duration(i)*time.Second)))
		d = with(d, "paymentAmount", dec(fmt.Sprintf("%d.%02d", cents/100, cents%100)))
		d = with(d, "amount", dec(fmt.Sprintf("%d.%02d", cents*9/1000, cents%100)))
		docs[i] = raw(d)
	}
	return docs
}

func layout(t testing.TB, cfg export.Config) *export.Layout {
	t.Helper()
	l, err := export.NewLayout(sale(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// encode runs the encoder over the documents without a stream.
func encode(t testing.TB, enc export.Encoder, docs ...bson.D) string {
	t.Helper()
	if err := enc.Begin(); err != nil {
		t.Fatal(err)
	}
	for _, d := range docs {
		if err := enc.Row(raw(d)); err != nil {
			t.Fatal(err)
		}
	}
	if err := enc.End(export.Summary{Rows: int64(len(docs)), Digest: "abc"}); err != nil {
		t.Fatal(err)
	}
	return drain(t, enc)
}
