package cdc_test

import (
	"errors"
	"path/filepath"
	"testing"

	"prejoin/pkg/cdc"
)

// FuzzDecode: no panic, every error is ErrUndecodable, and no text that is longer than the message allows.
func FuzzDecode(f *testing.F) {
	files, _ := filepath.Glob("testdata/debezium/*/*.json")
	for _, file := range files {
		for _, m := range fixtures(f, file) {
			f.Add(m.Topic, m.Key, m.Value)
		}
	}
	f.Fuzz(func(t *testing.T, topic string, key, value []byte) {
		c, err := cdc.Decode(cdc.Message{Topic: topic, Key: key, Value: value}, wantAll)
		if err != nil && !errors.Is(err, cdc.ErrUndecodable) {
			t.Fatalf("error outside ErrUndecodable: %v", err)
		}
		for _, columns := range []cdc.Columns{c.Before, c.After} {
			if len(columns) > len(wantAll("", "")) {
				t.Fatalf("%d columns, more than wanted", len(columns))
			}
			for _, v := range columns {
				if len(v.Text) > 3*len(value)+17000 {
					t.Fatalf("%d bytes of text from a message of %d", len(v.Text), len(value))
				}
			}
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	for _, file := range []string{"string-noschema/03-update-full.json", "precise-schema/03-update-full.json", "string-noschema/30-insert-toast.json"} {
		m := fixtures(b, "testdata/debezium/"+file)[0]
		b.Run(filepath.Dir(file)+"/"+filepath.Base(file), func(b *testing.B) {
			b.SetBytes(int64(len(m.Value)))
			b.ReportAllocs()
			wanted := []string{"id"}
			for b.Loop() {
				if _, err := cdc.Decode(m, func(string, string) []string { return wanted }); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
