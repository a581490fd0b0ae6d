package readmodel

import (
	"fmt"
	"strconv"

	"github.com/goccy/go-yaml/ast"
)

// object reads one mapping of the file. Every read of a key that is absent or
// of another type reports it and returns the zero value, so that one pass finds
// all faults.
type object struct {
	s      *source
	path   string
	what   string // for messages: `field "amount"`
	values map[string]ast.Node
	order  []string
	broken bool // not a mapping: reported once, silent afterwards
}

// object opens a mapping whose keys must be among known; nil knows all keys.
func (s *source) object(n ast.Node, path, what string, known []string) object {
	o := object{s: s, path: path, what: what, values: map[string]ast.Node{}}
	s.at[path] = placeOf(n)
	pairs, ok := mapping(n)
	if !ok {
		s.errorf(placeOf(n), "%s is %s; write \"key: value\" pairs", what, kindOf(n))
		o.broken = true
		return o
	}
	for _, pair := range pairs {
		o.add(pair, known)
	}
	return o
}

func (o *object) add(pair *ast.MappingValueNode, known []string) {
	at := placeOf(pair.Key)
	key, ok := pair.Key.(*ast.StringNode)
	if !ok {
		o.s.errorf(at, "the key %s of %s is %s; put it in quotes", clip(pair.Key.String()), o.what, kindOf(pair.Key))
		return
	}
	if _, twice := o.values[key.Value]; twice {
		o.s.errorf(at, "%q stands twice in %s; remove one", clip(key.Value), o.what)
		return
	}
	if known != nil && !contains(known, key.Value) {
		o.s.errorf(at, "unknown key %q in %s; %s", clip(key.Value), o.what, instead(key.Value, known))
		return
	}
	o.values[key.Value] = pair.Value
	o.order = append(o.order, key.Value)
	o.s.at[join(o.path, key.Value)] = placeOf(pair.Value)
}

func (o object) has(key string) bool { return o.values[key] != nil }

// need returns a key's node, or reports that it is missing and how it looks.
func (o object) need(key, example string) ast.Node {
	n := o.values[key]
	if n == nil && !o.broken {
		o.s.fault(o.path, "%s has no %q; write for example %s", o.what, key, example)
	}
	return n
}

// text reads a required text.
func (o object) text(key, example string) string {
	n := o.need(key, example)
	if n == nil {
		return ""
	}
	return o.s.text(n, join(o.path, key), fmt.Sprintf("%q of %s", key, o.what))
}

// optional reads a text that may be left out.
func (o object) optional(key string) string {
	if !o.has(key) {
		return ""
	}
	return o.text(key, "")
}

// integer reads a required whole number within bounds.
func (o object) integer(key, example string, low, high int) int {
	n := o.need(key, example)
	if n == nil {
		return low
	}
	_, ok := n.(*ast.IntegerNode)
	v, err := strconv.Atoi(n.GetToken().Value)
	if !ok || err != nil || v < low || v > high {
		o.s.errorf(placeOf(n), "%q of %s is %s; write a whole number from %d to %d", key, o.what, describe(n), low, high)
		return low
	}
	return v
}

// flag reads a true or false that may be left out.
func (o object) flag(key string) bool {
	n := o.values[key]
	if n == nil {
		return false
	}
	b, ok := n.(*ast.BoolNode)
	if !ok {
		o.s.errorf(placeOf(n), "%q of %s is %s; write true or false", key, o.what, describe(n))
		return false
	}
	return b.Value
}

// list reads a sequence; an absent one is empty.
func (o object) list(key string, most int) []ast.Node {
	n := o.values[key]
	if n == nil {
		return nil
	}
	seq, ok := n.(*ast.SequenceNode)
	if !ok {
		o.s.errorf(placeOf(n), "%q of %s is %s; write a list: [a, b] or lines that start with \"- \"", key, o.what, kindOf(n))
		return nil
	}
	if len(seq.Values) > most {
		o.s.errorf(placeOf(n), "%q of %s has %d entries; at most %d are allowed", key, o.what, len(seq.Values), most)
		return seq.Values[:most]
	}
	return seq.Values
}

// texts reads a list of texts; one that stands twice is reported.
func (o object) texts(key string, most int) []string {
	var out []string
	for i, n := range o.list(key, most) {
		path := item(join(o.path, key), i)
		v := o.s.text(n, path, fmt.Sprintf("%q of %s", key, o.what))
		if v != "" && contains(out, v) {
			o.s.fault(path, "%q stands twice in %q of %s; remove one", clip(v), key, o.what)
		}
		out = append(out, v)
	}
	return out
}
