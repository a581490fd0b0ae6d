package readmodel

import (
	"errors"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Bounds of a file's shape. The YAML parser recurses, and its time grows with
// the square of the depth (20,000 open brackets took 1.8 s) and of the entries
// of one mapping (350,000 took 317 s), so both are counted on the tokens before
// it runs. The bundled settlement model has about 2,000 tokens.
const (
	maxTokens      = 25_000
	maxFlowDepth   = 8  // open { and [
	maxBlockColumn = 40 // column of a block's key or dash
)

// document parses the text to its one top node, or reports why not and
// returns nil.
func (s *source) document(text string) ast.Node {
	tokens := lexer.Tokenize(text)
	if len(tokens) > maxTokens {
		p := tokens[maxTokens].Position
		s.errorf(position{p.Line, p.Column}, "more than %d words and signs before this place; a model is far smaller, split it", maxTokens)
		return nil
	}
	before := len(s.errs)
	s.screen(tokens)
	if len(s.errs) > before {
		return nil
	}
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		s.syntax(err)
		return nil
	}
	return s.only(file)
}

// screen refuses what a model file does not need and what could cost the
// parser too much: anchors, aliases, tags, directives, complex keys, depth.
func (s *source) screen(tokens token.Tokens) {
	depth, line := 0, 0
	for _, t := range tokens {
		at := position{t.Position.Line, t.Position.Column}
		switch t.Type {
		case token.AnchorType, token.AliasType, token.MergeKeyType:
			s.errorf(at, "anchors, aliases and merge keys are not allowed in a model; write the value out")
		case token.TagType, token.DirectiveType:
			s.errorf(at, "tags and directives are not allowed in a model; remove %q", t.Value)
		case token.MappingKeyType:
			s.errorf(at, "a key is a plain word; write \"key: value\" without the question mark")
		case token.MappingStartType, token.SequenceStartType:
			if depth++; depth == maxFlowDepth+1 {
				s.errorf(at, "nested more than %d deep in brackets; no part of a model is", maxFlowDepth)
			}
		case token.MappingEndType, token.SequenceEndType:
			depth--
		case token.SequenceEntryType:
			s.shallow(at, depth)
		case token.MappingValueType:
			if depth > 0 {
				continue
			}
			s.shallow(at, depth)
			if at.line == line {
				s.errorf(at, "a second \": \" on one line; put a text that holds one in quotes")
			}
			line = at.line
		}
	}
}

func (s *source) shallow(at position, depth int) {
	if depth == 0 && at.column > 2*maxBlockColumn {
		s.errorf(at, "indented or nested too deep; start keys before column %d", maxBlockColumn)
	}
}

// syntax reports a parser's error at its token, without its picture of the
// source.
func (s *source) syntax(err error) {
	var wrong *yaml.SyntaxError
	if !errors.As(err, &wrong) || wrong.Token == nil {
		s.errorf(position{1, 1}, "not YAML: %s", firstLine(err.Error()))
		return
	}
	at := position{wrong.Token.Position.Line, wrong.Token.Position.Column}
	s.errorf(at, "not YAML: %s; mend the line, see docs/model.md for the form", firstLine(wrong.Message))
}

func (s *source) only(file *ast.File) ast.Node {
	var top ast.Node
	for _, d := range file.Docs {
		if d.Body == nil {
			continue
		}
		if top != nil {
			s.errorf(placeOf(d.Body), "a second YAML document; write one model a file")
			return nil
		}
		top = d.Body
	}
	if top == nil {
		s.errorf(position{1, 1}, "the file is empty; start it with \"model: name\", see docs/model.md")
	}
	return top
}

// placeOf is where a value starts; for a block mapping, whose token is its
// first colon, where its first key starts.
func placeOf(n ast.Node) position {
	if m, ok := n.(*ast.MappingNode); ok && !m.IsFlowStyle && len(m.Values) > 0 {
		n = m.Values[0].Key
	}
	if m, ok := n.(*ast.MappingValueNode); ok {
		n = m.Key
	}
	p := n.GetToken().Position
	return position{p.Line, p.Column}
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
