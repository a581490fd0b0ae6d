package httpapi

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"testing"

	"go.mongodb.org/mongo-driver/bson"

	"prejoin/pkg/export"
	"prejoin/pkg/readmodel"
)

// script is rows that come and then an error.
type script struct {
	batches [][]bson.Raw
	err     error
}

func (s *script) Next(context.Context) ([]bson.Raw, error) {
	if len(s.batches) == 0 {
		return nil, s.err
	}
	batch := s.batches[0]
	s.batches = s.batches[1:]
	return batch, nil
}

type sink struct{ bytes.Buffer }

func (*sink) Flush() error { return nil }

// A connection that was lost wraps io.EOF and is not the end, neither after
// rows nor before the first.
func TestLostConnectionIsNotTheEnd(t *testing.T) {
	m := &readmodel.Model{ID: "id", Fields: []readmodel.Field{{Name: "id", Type: readmodel.Int64}}}
	doc, err := bson.Marshal(bson.D{{Key: "_id", Value: int64(1)}})
	if err != nil {
		t.Fatal(err)
	}
	f := func(batches int, end error, clean bool) {
		t.Helper()
		l, err := export.NewLayout(m, export.Config{})
		if err != nil {
			t.Fatal(err)
		}
		whole := &wholeRows{rows: &script{batches: make([][]bson.Raw, batches), err: end}}
		for i := range batches {
			whole.rows.(*script).batches[i] = []bson.Raw{doc}
		}
		_, err = export.Stream(t.Context(), whole, export.NewNDJSON(l, false), &sink{}, export.Options{})
		if (err == nil) != clean {
			t.Errorf("%d batches and %v: %v", batches, end, err)
		}
		if cause := whole.cause(err); !clean && cause != whole.err {
			t.Errorf("the cause %v is lost: %v", end, cause)
		}
	}
	lost := fmt.Errorf("socket was unexpectedly closed: %w", io.EOF)
	f(0, io.EOF, true)
	f(3, io.EOF, true)
	f(0, lost, false)
	f(3, lost, false)
}
