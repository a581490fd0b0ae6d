package readmodel

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
)

// text reads a scalar that must be text as it stands: a number, a bool or
// nothing is not turned into text, since 1.0 and "1.0" differ.
func (s *source) text(n ast.Node, path, what string) string {
	s.at[path] = placeOf(n)
	v, ok := plain(n)
	switch {
	case !ok:
		s.errorf(placeOf(n), "%s is %s; write text%s", what, describe(n), quoted(n))
	case strings.TrimSpace(v) == "":
		s.errorf(placeOf(n), "%s is empty; write it or remove the key", what)
	case strings.ContainsRune(v, 0):
		s.errorf(placeOf(n), "%s holds a NUL character; remove it", what)
		return ""
	}
	return v
}

func plain(n ast.Node) (string, bool) {
	switch v := n.(type) {
	case *ast.StringNode:
		return v.Value, true
	case *ast.LiteralNode:
		return v.Value.Value, true
	}
	return "", false
}

// quoted suggests quotes for a scalar that YAML takes for something else.
func quoted(n ast.Node) string {
	switch n.(type) {
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return ", in quotes: \"" + n.GetToken().Value + "\""
	}
	return ""
}

func mapping(n ast.Node) ([]*ast.MappingValueNode, bool) {
	switch v := n.(type) {
	case *ast.MappingNode:
		return v.Values, true
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{v}, true
	}
	return nil, false
}

// kindOf names a node's kind for a sentence.
func kindOf(n ast.Node) string {
	switch n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		return "a mapping"
	case *ast.SequenceNode:
		return "a list"
	case *ast.StringNode, *ast.LiteralNode:
		return "text"
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return "a number"
	case *ast.BoolNode:
		return "true or false"
	case *ast.NullNode:
		return "empty"
	}
	return "a " + n.Type().YAMLName()
}

// describe names a node's kind and, for a short scalar, its text.
func describe(n ast.Node) string {
	value := n.GetToken().Value
	switch n.(type) {
	case *ast.StringNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		if utf8.RuneCountInString(value) <= 40 && !strings.Contains(value, "\n") {
			return kindOf(n) + " (" + value + ")"
		}
	}
	return kindOf(n)
}

func contains(words []string, word string) bool { return slices.Contains(words, word) }
