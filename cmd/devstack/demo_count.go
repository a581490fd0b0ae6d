package main

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
)

// pageRows counts the rows of a page: {"data": [rows], "next": …}.
func pageRows(body []byte) (int64, error) {
	var page struct {
		Data []json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(body, &page); err != nil {
		return 0, fmt.Errorf("reading the page: %w", err)
	}
	if page.Data == nil {
		return 0, errors.New("reading the page: it has no data")
	}
	return int64(len(page.Data)), nil
}

// oneRow counts one JSON object.
func oneRow(body []byte) (int64, error) {
	var row map[string]json.RawMessage
	if err := json.Unmarshal(body, &row); err != nil {
		return 0, fmt.Errorf("reading the row: %w", err)
	}
	return 1, nil
}

// lineRows counts the lines of NDJSON, each of which must be whole.
func lineRows(body []byte) (n int64, err error) {
	for line := range bytes.Lines(body) {
		if !bytes.HasSuffix(line, []byte("\n")) || !json.Valid(line) {
			return n, fmt.Errorf("reading row %d: it is cut or no JSON", n+1)
		}
		n++
	}
	return n, nil
}

// sheetRows counts the rows of all sheets of a workbook below their headers.
func sheetRows(body []byte) (n int64, err error) {
	book, err := zip.NewReader(bytes.NewReader(body), int64(len(body)))
	if err != nil {
		return 0, fmt.Errorf("opening the workbook: %w", err)
	}
	sheets := 0
	for _, f := range book.File {
		if !strings.HasPrefix(f.Name, "xl/worksheets/sheet") {
			continue
		}
		sheets++
		rows, err := elements(f, "row")
		if err != nil {
			return 0, fmt.Errorf("reading %s of the workbook: %w", f.Name, err)
		}
		n += max(0, rows-1)
	}
	if sheets == 0 {
		return 0, errors.New("reading the workbook: it has no sheet")
	}
	return n, nil
}

// elements counts the elements of an XML file that have a name.
func elements(f *zip.File, name string) (n int64, err error) {
	r, err := f.Open()
	if err != nil {
		return 0, err
	}
	defer r.Close()
	d := xml.NewDecoder(r)
	for {
		token, err := d.RawToken()
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return n, err
		}
		if start, ok := token.(xml.StartElement); ok && start.Name.Local == name {
			n++
		}
	}
}
