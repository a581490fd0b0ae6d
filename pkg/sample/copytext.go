package sample

import (
	"strconv"
	"time"
)

// row writes one row of COPY's text format. Text instead of binary because
// numeric and timestamptz are then written as they are read by people.
type row struct {
	b     []byte
	begun bool
}

func (r *row) sep() {
	if r.begun {
		r.b = append(r.b, '\t')
	}
	r.begun = true
}

func (r *row) end() {
	r.b = append(r.b, '\n')
	r.begun = false
}

func (r *row) null() {
	r.sep()
	r.b = append(r.b, '\\', 'N')
}

func (r *row) int(v int64) {
	r.sep()
	r.b = strconv.AppendInt(r.b, v, 10)
}

func (r *row) money(v cents) {
	r.sep()
	r.b = v.append(r.b)
}

func (r *row) fraction(v feeRate) {
	r.sep()
	r.b = v.append(r.b)
}

func (r *row) day(v day) {
	r.sep()
	r.b = v.append(r.b)
}

func (r *row) time(v time.Time) {
	r.sep()
	r.b = v.UTC().AppendFormat(r.b, "2006-01-02 15:04:05.000000+00")
}

func (r *row) text(v string) {
	r.sep()
	for i := range len(v) {
		switch c := v[i]; c {
		case '\\':
			r.b = append(r.b, '\\', '\\')
		case '\n':
			r.b = append(r.b, '\\', 'n')
		case '\r':
			r.b = append(r.b, '\\', 'r')
		case '\t':
			r.b = append(r.b, '\\', 't')
		default:
			r.b = append(r.b, c)
		}
	}
}

// optional writes NULL for the zero value.
func (r *row) optional(v string) {
	if v == "" {
		r.null()
		return
	}
	r.text(v)
}
