package readmodel_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"prejoin/pkg/readmodel"
)

func settlement(t *testing.T) *readmodel.Model {
	t.Helper()
	m, err := readmodel.Load("../../readmodels/settlement.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// The order of fields is the order of documents and exports; the array stands
// where {child: lines} puts it.
func TestSettlementFields(t *testing.T) {
	var got []string
	for _, f := range settlement(t).Fields {
		got = append(got, f.Name+":"+string(f.Type))
	}
	want := strings.Fields(`settlementId:int64 orderNo:text productOrderNo:text merchantId:int64 merchantName:text partnerId:int64 bizNo:text
		productName:text buyerName:text orderedAt:timestamp paidAt:timestamp confirmedAt:timestamp settlementBase:date payDue:date paidOut:date
		type:enum status:enum method:enum cardIssuer:text installment:int64 paymentAmount:decimal amount:decimal lines:array bankCode:text
		accountNo:text accountHolder:text holdReason:text`)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

func TestIndexKeys(t *testing.T) {
	m := settlement(t)
	var got []string
	for _, a := range m.Access {
		keys := ""
		for _, k := range m.Index(a) {
			keys += k.String() + " "
		}
		got = append(got, strings.TrimSpace(keys))
	}
	want := []string{"merchantId -payDue -_id", "merchantId status -payDue -_id", "partnerId -payDue -_id", "payDue _id", "status payDue _id"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

// A child that no field places comes last.
func TestUnplacedChildComesLast(t *testing.T) {
	m := valid(t)
	last := m.Fields[len(m.Fields)-1]
	if last.Name != "parcels" || last.Type != readmodel.Array || last.Child != &m.Children[0] {
		t.Errorf("got %+v", last)
	}
}

// The description says nothing of SQL and tables.
func TestDescribeHidesTheShards(t *testing.T) {
	text, err := json.Marshal(settlement(t).Describe())
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"SELECT", "public.", "settlement_id", "fanout"} {
		if strings.Contains(string(text), secret) {
			t.Errorf("the description holds %q", secret)
		}
	}
	for _, part := range []string{`"name":"amount","type":"decimal","scale":2,"format":"#,##0","label":{"en":"Settlement amount","ko":"정산금액"},"total":"sum"`,
		`{"value":"HELD","label":{"en":"On hold","ko":"정산보류"}}`, `{"scope":"none","equal":["status"],"range":"payDue","sort":"payDue"}`, `"personal":"account","roles":{"reader":"masked"}`} {
		if !strings.Contains(string(text), part) {
			t.Errorf("the description lacks %s", part)
		}
	}
}

// Two files with one model, a file with faults and a stray file: all is said at
// once, and nothing is loaded.
func TestLoadAllReportsEveryFile(t *testing.T) {
	dir := t.TempDir()
	good, err := os.ReadFile("testdata/valid.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"a.yaml": string(good), "b.yml": string(good), "c.yaml": "model: x\n", "notes.txt": "not a model", ".hidden.yaml": "x"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	models, err := readmodel.LoadAll(dir)
	var faults readmodel.Errors
	if models != nil || !errors.As(err, &faults) {
		t.Fatalf("got %v, %v", models, err)
	}
	for _, want := range []string{"b.yml:1:1: model \"shipment\" is also in", "c.yaml:1:1: the model has no \"root\""} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in:\n%v", want, err)
		}
	}
	if strings.Contains(err.Error(), "hidden") || strings.Contains(err.Error(), "notes") {
		t.Errorf("a stray file was read: %v", err)
	}
}

func TestLoadAllWantsFiles(t *testing.T) {
	for _, path := range []string{t.TempDir(), "no/such/place"} {
		if _, err := readmodel.LoadAll(path); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: got %v", path, err)
		}
	}
	if m, err := readmodel.LoadAll("../../readmodels", "../../readmodels/order.yaml"); err != nil || len(m) != 2 {
		t.Errorf("a file named twice counts once: %d models, %v", len(m), err)
	}
}
