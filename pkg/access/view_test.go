package access

import (
	"fmt"
	"testing"

	"go.mongodb.org/mongo-driver/bson"

	"prejoin/pkg/query"
	"prejoin/pkg/readmodel"
)

func TestMasks(t *testing.T) {
	f := func(mask, in, want string) {
		t.Helper()
		if got := masked(mask, in); got != want {
			t.Errorf("%s %q: %q, want %q", mask, in, got, want)
		}
	}
	f("tail", "110-234-567123", "110-***-***123")
	f("tail", "1234567890", "123****890")
	f("tail", "12345678", "******78")
	f("tail", "12", "**")
	f("tail", "", "")
	f("name", "홍길동", "홍*동")
	f("name", "홍길", "홍*")
	f("name", "홍", "*")
	f("name", "남궁민수", "남**수")
	f("name", "Kim Min", "K*****n")
	f("all", "anything", "***")
	f("typo", "anything", "***")
}

func model() *readmodel.Model {
	lines := &readmodel.Child{Field: "lines", Fields: []readmodel.Field{
		{Name: "kind", Type: readmodel.Text},
		{Name: "payee", Type: readmodel.Text, PII: &readmodel.PII{Kind: "name", Mask: "name"}},
	}}
	return &readmodel.Model{ID: "id", Fields: []readmodel.Field{
		{Name: "id", Type: readmodel.Int64},
		{Name: "buyer", Type: readmodel.Text, PII: &readmodel.PII{Kind: "name", Mask: "name"}},
		{Name: "note", Type: readmodel.Text, Roles: map[string]string{"reader": "hidden"}},
		{Name: "lines", Type: readmodel.Array, Child: lines},
	}}
}

func raw(t *testing.T, text string) bson.Raw {
	t.Helper()
	var d bson.D
	if err := bson.UnmarshalExtJSON([]byte(text), true, &d); err != nil {
		t.Fatal(err)
	}
	doc, err := bson.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestShow(t *testing.T) {
	f := func(role, in, want string) {
		t.Helper()
		got, err := NewView(model(), query.Reader{Role: role}).Show(nil, raw(t, in))
		if err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(bson.Raw(got)) != fmt.Sprint(raw(t, want)) {
			t.Errorf("%s:\n got %s\nwant %s", in, bson.Raw(got), want)
		}
	}
	const doc = `{"_id":1,"buyer":"홍길동","note":"x","lines":[{"kind":"A","payee":"김철수"},{"kind":"B","payee":null}],"_p":{"s":"shard0"}}`
	f(query.RoleReader, doc, `{"_id":1,"buyer":"홍*동","lines":[{"kind":"A","payee":"김*수"},{"kind":"B","payee":null}],"_p":{"s":"shard0"}}`)
	f(query.RoleFull, doc, doc)
	f("", `{"_id":1,"buyer":"홍길동"}`, `{"_id":1,"buyer":"홍*동"}`)
	// what is not of the model's type may be anything, so it is not shown
	f(query.RoleReader, `{"_id":1,"buyer":12,"lines":"x"}`, `{"_id":1,"buyer":null,"lines":null}`)
	f(query.RoleReader, `{"_id":1,"buyer":{"name":"홍길동"},"lines":["홍길동"]}`, `{"_id":1,"buyer":null,"lines":[null]}`)
}

func TestBrokenDocumentIsNotShown(t *testing.T) {
	doc := raw(t, `{"_id":1,"buyer":"홍길동"}`)
	doc[4] = 0x99
	if _, err := NewView(model(), query.Reader{}).Show(nil, doc); err == nil {
		t.Error("a broken document was shown")
	}
}

func BenchmarkShow(b *testing.B) {
	d := bson.D{{Key: "_id", Value: int64(1)}}
	for i := range 25 {
		d = append(d, bson.E{Key: fmt.Sprint("field", i), Value: "some text of a field"})
	}
	doc, _ := bson.Marshal(append(d, bson.E{Key: "buyer", Value: "홍길동"}))
	v := NewView(model(), query.Reader{})
	b.SetBytes(int64(len(doc)))
	b.ReportAllocs()
	var buf []byte
	for b.Loop() {
		buf, _ = v.Show(buf[:0], doc)
	}
}
