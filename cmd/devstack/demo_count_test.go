package main

import (
	"archive/zip"
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

func sheets(t *testing.T, texts ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i, text := range texts {
		f, err := w.Create("xl/worksheets/sheet" + string(rune('1'+i)) + ".xml")
		must(t, err)
		_, err = io.WriteString(f, text)
		must(t, err)
	}
	must(t, w.Close())
	return b.Bytes()
}

func TestCountRows(t *testing.T) {
	f := func(count func([]byte) (int64, error), body []byte, want int64, fails bool) {
		t.Helper()
		if n, err := count(body); (err != nil) != fails || !fails && n != want {
			t.Errorf("%q: %d, %v; want %d", body, n, err, want)
		}
	}
	f(pageRows, []byte(`{"data":[{"a":1},{"a":2}],"next":null}`), 2, false)
	f(pageRows, []byte(`{"data":[],"next":null}`), 0, false)
	f(pageRows, []byte(`{"title":"x"}`), 0, true)
	f(oneRow, []byte(`{"a":1}`), 1, false)
	f(oneRow, []byte(`[]`), 0, true)
	f(lineRows, []byte("{}\n{}\n"), 2, false)
	f(lineRows, []byte("{}\n{}"), 0, true)
	f(lineRows, []byte("{}\n{\n"), 0, true)
	f(lineRows, nil, 0, false)
	f(sheetRows, sheets(t, `<sheetData><row r="1"/><row r="2"><c/></row></sheetData>`, `<sheetData><row r="1"/><row/><row/></sheetData>`), 3, false)
	f(sheetRows, sheets(t), 0, true)
	f(sheetRows, []byte("PK"), 0, true)
}

// An export that does not say how many rows it has, or has others, is not shown.
func TestAnUnequalExportIsAnError(t *testing.T) {
	f := func(body, trailer, want string) {
		t.Helper()
		answer := &http.Response{Body: io.NopCloser(strings.NewReader(body)), Trailer: http.Header{}}
		if trailer != "" {
			answer.Trailer.Set("Prejoin-Rows", trailer)
		}
		a := asked{path: "/x", file: "rows.ndjson", count: lineRows}
		err := a.measure(answer, time.Now())
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q with %q: %v, want %q", body, trailer, err, want)
		}
	}
	f("{}\n{}\n", "2", "")
	f("{}\n{}\n", "", "no trailer")
	f("{}\n{}\n", "3", "holds 2 rows and says 3")
	f("{}\n{", "2", "it is cut")
}
