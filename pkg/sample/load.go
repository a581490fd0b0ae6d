package sample

import (
	"bytes"
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// dealsPerCopy bounds the memory: about 1 MB of rows a table are held.
const dealsPerCopy = 4000

// loader fills one shard inside one transaction. Four tables are filled in turn,
// parents first, so that each COPY finds what its foreign keys name.
type loader struct {
	conn                              *pgx.Conn
	orders, payments, settled, detail row
	held                              int
	counts                            ShardCounts
}

func (l *loader) add(ctx context.Context, d *deal) error {
	if !d.cancelOf {
		l.addSale(d)
	}
	l.addSettlement(d)
	if l.held++; l.held == dealsPerCopy {
		return l.flush(ctx)
	}
	return nil
}

func (l *loader) addSale(d *deal) {
	o := &l.orders
	o.int(d.order)
	o.int(d.merchant)
	o.text(d.orderNo)
	o.text(d.productOrderNo)
	o.text(d.product)
	o.text(d.buyer)
	o.time(d.ordered)
	if d.confirmed.IsZero() {
		o.null()
	} else {
		o.time(d.confirmed)
	}
	o.time(d.created)
	o.end()
	p := &l.payments
	p.int(d.payment)
	p.int(d.order)
	p.int(d.merchant)
	p.text(d.method)
	p.optional(d.issuer)
	if d.issuer == "" {
		p.null()
	} else {
		p.int(int64(d.installment))
	}
	p.money(d.gross)
	p.time(d.paid)
	p.time(d.paid)
	p.end()
	l.counts.Orders++
}

func (l *loader) addSettlement(d *deal) {
	s := &l.settled
	for _, v := range []int64{d.id, d.merchant, d.order, d.payment} {
		s.int(v)
	}
	s.text(d.kind)
	s.text(d.status)
	s.day(d.base)
	s.day(d.due)
	if d.paidOut() {
		s.day(d.due)
	} else {
		s.null()
	}
	s.money(d.gross)
	s.money(d.net)
	s.optional(d.hold)
	s.time(d.created)
	s.time(d.modified)
	s.end()
	for _, f := range d.lines {
		l.addLine(d.id, f)
	}
	l.counts.Settlements++
	l.counts.Lines += int64(len(d.lines))
}

func (l *loader) addLine(settlement int64, f line) {
	r := &l.detail
	r.int(f.id)
	r.int(settlement)
	r.text(f.kind)
	r.money(f.base)
	r.fraction(f.rate)
	r.money(f.amount)
	r.money(f.vat)
	r.end()
}

func (l *loader) flush(ctx context.Context) error {
	l.held = 0
	for _, t := range []struct {
		name string
		rows *row
	}{{"orders", &l.orders}, {"payment", &l.payments}, {"settlement", &l.settled}, {"settlement_line", &l.detail}} {
		if err := copyInto(ctx, l.conn, t.name, t.rows); err != nil {
			return err
		}
	}
	return nil
}

// copyInto sends the rows and empties them.
func copyInto(ctx context.Context, conn *pgx.Conn, table string, rows *row) error {
	_, err := conn.PgConn().CopyFrom(ctx, bytes.NewReader(rows.b), "COPY "+table+" FROM STDIN")
	rows.b = rows.b[:0]
	if err != nil {
		return fmt.Errorf("copying into %s: %w", table, err)
	}
	return nil
}
