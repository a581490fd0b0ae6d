package export

import (
	"cmp"
	"slices"
)

// What a Loss says of the values it counts.
const (
	LossType    = "type"       // not of the model's type: written as text
	LossMissing = "missing"    // the document lacks the field: written as null
	LossUTF8    = "utf8"       // bytes that are not UTF-8: replaced by U+FFFD
	LossFinite  = "not-finite" // NaN or an infinity: written as text
	LossLabel   = "label"      // an enum value that the model does not know: its code is written
	LossGuard   = "guarded"    // formula-like text: an apostrophe was put before it
	LossDigits  = "digits"     // more than 15 significant digits, or -0: written as text (Excel)
	LossCut     = "cut"        // text longer than a cell: cut, with a marker that says so (Excel)
	LossDate    = "date"       // a date that the format has no number for: written as text (Excel)
)

// Loss counts the values of one column that did not leave as the model's type.
type Loss struct {
	Column string // "amount", "lines.amount"
	Kind   string // one of the Loss constants
	Count  int64
}

// tally counts losses; they are rare, so a map will do.
type tally map[[2]string]int64

func (t tally) add(f *field, kind string) { t[[2]string{f.path, kind}]++ }

func (t tally) list() []Loss {
	var all []Loss
	for k, n := range t {
		all = append(all, Loss{Column: k[0], Kind: k[1], Count: n})
	}
	slices.SortFunc(all, func(a, b Loss) int {
		return cmp.Or(cmp.Compare(a.Column, b.Column), cmp.Compare(a.Kind, b.Kind))
	})
	return all
}
