package readmodel_test

import (
	"os"
	"strings"
	"testing"

	"prejoin/pkg/readmodel"
)

func valid(t *testing.T, edits ...string) *readmodel.Model {
	t.Helper()
	data, err := os.ReadFile("testdata/valid.yaml")
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	for i := 0; i < len(edits); i += 2 {
		if !strings.Contains(text, edits[i]) {
			t.Fatalf("the file does not hold %q", edits[i])
		}
		text = strings.ReplaceAll(text, edits[i], edits[i+1])
	}
	m, err := readmodel.Parse("valid.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// What decides a document's content changes the shape.
func TestShapeFollowsTheContent(t *testing.T) {
	seen := map[string]string{valid(t).Shape: "the file as it is"}
	for name, edits := range map[string][]string{
		"root, by one space": {"SELECT s.id AS", "SELECT  s.id AS"},
		"ids":                {"SELECT id FROM public.shipment WHERE", "SELECT id FROM  public.shipment WHERE"},
		"child's query":      {"ORDER BY shipment_id, id", "ORDER BY shipment_id, weight"},
		"child's scale":      {"scale: 3", "scale: 4"},
		"child's name":       {"field: parcels", "field: boxes"},
		"child's parent":     {"parent: shipment_id", "parent: shipment"},
		"id": {"id: shipmentId", "id: merchantId", "scope: {merchant: merchantId}", "scope: {merchant: shipmentId}",
			"  - {name: shipmentId, type: int64, label: {en: Shipment no., ko: 배송번호}}\n", "", // the id must come first
			"  - {name: merchantId, type: int64, label: {en: Merchant no., ko: 가맹점번호}}\n", "  - {name: merchantId, type: int64, label: {en: Merchant no., ko: 가맹점번호}}\n  - {name: shipmentId, type: int64, label: {en: Shipment no., ko: 배송번호}}\n"},
		"field's name":  {"name: state", "name: status"},
		"field's type":  {"name: sentOn, type: date", "name: sentOn, type: timestamp"},
		"field's scale": {"scale: 2", "scale: 1"},
		"field's place": {"  - {name: fee,", "  - {child: parcels}\n  - {name: fee,"},
	} {
		shape := valid(t, edits...).Shape
		if other, same := seen[shape]; same {
			t.Errorf("%s: the shape is that of: %s", name, other)
		}
		seen[shape] = name
	}
}

// What is only shown, asked or routed does not.
func TestShapeLeavesTheRestFree(t *testing.T) {
	want := valid(t).Shape
	for name, edits := range map[string][]string{
		"label":   {"ko: 배송비", "ko: 운송료"},
		"value":   {"SENT: {en: Sent, ko: 발송}", "SENT: {en: Sent, ko: 발송}, LOST: {en: Lost, ko: 분실}"},
		"mask":    {"mask: tail", "mask: all"},
		"access":  {"sort: -sentOn", "sort: sentOn"},
		"route":   {"{table: public.parcel, id: shipment_id}", "{table: public.box, id: shipment_id}"},
		"version": {"version: 1", "version: 2"},
		"model":   {"model: shipment", "model: delivery"},
	} {
		if got := valid(t, edits...).Shape; got != want {
			t.Errorf("%s changes the shape", name)
		}
	}
}
