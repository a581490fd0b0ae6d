package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
)

// asked is one request of the screen and what it cost.
type asked struct {
	what, path, file string
	took             time.Duration
	rows, bytes      int64
	count            func(body []byte) (int64, error) // the rows of an answer
}

// curl is the line to copy; KEY and URL stand above it on the screen.
func (a asked) curl() string {
	out := ""
	if a.file != "" {
		out = " -o " + a.file
	}
	return fmt.Sprintf(`curl -sS -H "Authorization: Bearer $KEY"%s "$URL%s"`, out, a.path)
}

// ask sends the screen's four requests and times each to its last byte.
func (d *demo) ask(ctx context.Context) ([]asked, error) {
	id, err := d.anyID(ctx)
	if err != nil {
		return nil, fmt.Errorf("choosing a settlement to ask for: %w", err)
	}
	list := []asked{
		{what: "a page of the largest merchant", path: fmt.Sprintf("/v1/settlement?merchantId=%d&limit=20", largest), count: pageRows},
		{what: "one settlement with its fee lines", path: "/v1/settlement/" + strconv.FormatInt(id, 10), count: oneRow},
		{what: "all of the largest merchant as NDJSON", path: fmt.Sprintf("/v1/settlement/export.ndjson?merchantId=%d", largest), file: "settlement.ndjson", count: lineRows},
		{what: "the same as Excel", path: fmt.Sprintf("/v1/settlement/export.xlsx?merchantId=%d&lang=ko", largest), file: "settlement.xlsx", count: sheetRows},
	}
	for i := range list {
		if err := d.time(ctx, &list[i]); err != nil {
			return nil, fmt.Errorf("asking for %s: %w; see %s", list[i].what, err, d.stack.Folder.File("queryd.log"))
		}
	}
	return list, nil
}

func (d *demo) anyID(ctx context.Context) (id int64, err error) {
	conn, err := pgx.Connect(ctx, d.dsns()[0])
	if err != nil {
		return 0, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	err = conn.QueryRow(ctx, "SELECT min(settlement_id) FROM settlement_line").Scan(&id)
	return id, err
}

func (d *demo) time(ctx context.Context, a *asked) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, d.daemons.url+a.path, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+d.key)
	from := time.Now()
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(io.LimitReader(resp.Body, 2<<10))
		return fmt.Errorf("%s answered %s: %s", a.path, resp.Status, body)
	}
	return a.measure(resp, from)
}

// measure reads the answer to its end and counts its rows. An answer that does
// not say how many it has, or has others than it says, is none to show.
func (a *asked) measure(resp *http.Response, from time.Time) error {
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	a.took, a.bytes = time.Since(from), int64(len(body))
	if a.rows, err = a.count(body); err != nil || a.file == "" {
		return err
	}
	said, err := strconv.ParseInt(resp.Trailer.Get("Prejoin-Rows"), 10, 64)
	if err != nil {
		return fmt.Errorf("the answer to %s has no trailer Prejoin-Rows: it is not whole", a.path)
	}
	if said != a.rows {
		return fmt.Errorf("the answer to %s holds %d rows and says %d", a.path, a.rows, said)
	}
	return nil
}
