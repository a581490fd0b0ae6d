package xlsx

import (
	"bytes"
	"fmt"
	"io"
	"time"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/zip"
	"go.mongodb.org/mongo-driver/bson"

	"prejoin/pkg/export"
)

// Excel's limits, and ours: a sheet's XML stays under 4 GiB, since readers
// disagree on larger zip entries.
const (
	maxRows  = 1_048_576
	maxSheet = 4<<30 - 64<<20
)

// Config steers an Encoder; zero values mean the defaults.
type Config struct {
	Sheet string // the sheet's name; default "Sheet1"; made valid where it is not
	Title string // document property; default none
	Font  string // default 맑은 고딕; where it is missing the reader takes another
	Level int    // deflate level 1 to 9; default 1 (see the benchmark)
}

// Encoder is an export.Encoder for Excel workbooks.
type Encoder struct {
	*export.Table
	cfg     Config
	layout  *export.Layout
	columns []column
	spec    specimen
	zip     *zip.Writer
	out     bytes.Buffer // the zip's bytes until Flush
	sheet   sheet
	sheets  []string // names of the sheets begun
	maxRows int      // lines a sheet, with its header
	tmp     [64]byte // a number's digits
}

// New makes an encoder. The error is about the specimen, such as a number format
// that cannot be written.
func New(l *export.Layout, cfg Config) (*Encoder, error) {
	e := &Encoder{Table: export.NewTable(l), cfg: cfg.defaults(), layout: l, maxRows: maxRows}
	if n := len(l.Columns()); n > 16_384 {
		return nil, fmt.Errorf("%d columns are more than Excel's 16,384: choose fewer", n)
	}
	for i, c := range l.Columns() {
		e.columns = append(e.columns, newColumn(i, c))
	}
	var err error
	if e.spec, err = makeSpecimen(e.cfg, e.columns); err != nil {
		return nil, err
	}
	e.zip = zip.NewWriter(&e.out)
	e.zip.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) {
		return flate.NewWriter(w, e.cfg.Level)
	})
	return e, nil
}

func (c Config) defaults() Config {
	if c.Font == "" {
		c.Font = "맑은 고딕"
	}
	if c.Level < 1 || c.Level > 9 {
		c.Level = 1
	}
	c.Sheet = sheetName(c.Sheet)
	return c
}

// Begin writes the parts that do not depend on the rows.
func (e *Encoder) Begin() error {
	for _, name := range []string{"_rels/.rels", "docProps/app.xml", "docProps/core.xml", "xl/theme/theme1.xml", "xl/styles.xml"} {
		if err := e.part(name, e.spec.parts[name]); err != nil {
			return err
		}
	}
	return e.beginSheet()
}

// Row appends the document's lines.
func (e *Encoder) Row(doc bson.Raw) error { return e.Lines(doc, e.line) }

// End closes the sheet and writes the parts that name the sheets, then the zip's directory.
func (e *Encoder) End(export.Summary) error {
	if err := e.endSheet(); err != nil {
		return err
	}
	for _, name := range []string{"xl/workbook.xml", "xl/_rels/workbook.xml.rels", "[Content_Types].xml"} {
		if err := e.part(name, e.spec.closing(name, e.sheets, e.sheet.ranges)); err != nil {
			return err
		}
	}
	return wrap(e.zip.Close())
}

// Buffered is the number of compressed bytes that wait for Flush.
func (e *Encoder) Buffered() int { return e.out.Len() }

// Flush writes what is compressed so far in one call.
func (e *Encoder) Flush(w io.Writer) error {
	_, err := w.Write(e.out.Bytes())
	e.out.Reset()
	return err
}

// ContentType is that of Excel workbooks.
func (e *Encoder) ContentType() string {
	return "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
}

// Extension is "xlsx".
func (e *Encoder) Extension() string { return "xlsx" }

func (e *Encoder) part(name, content string) error {
	w, err := e.entry(name)
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, content)
	return wrap(err)
}

// entry starts a part. Its time is fixed, so that the same rows make the same bytes.
func (e *Encoder) entry(name string) (io.Writer, error) {
	w, err := e.zip.CreateHeader(&zip.FileHeader{
		Name: name, Method: zip.Deflate, Modified: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC),
	})
	return w, wrap(err)
}

func wrap(err error) error {
	if err != nil {
		return fmt.Errorf("compressing the workbook: %w", err)
	}
	return nil
}
