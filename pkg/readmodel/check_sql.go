package readmodel

import (
	"fmt"
	"slices"
	"strings"
)

// statement is one SQL text of the model, cut into words. Only PostgreSQL can
// check it in full (projector plan does); what is checked here is what would
// otherwise go wrong in silence.
type statement struct {
	c      *checker
	path   string
	tokens []sqlToken
}

func (c *checker) statements() {
	if st := c.statement("root", c.m.Root); st != nil {
		st.placeholders(1, "the array of ids")
	}
	if st := c.statement("ids", c.m.IDs); st != nil {
		st.placeholders(2, "$1 the last id (NULL at first), $2 the page size")
		st.paged()
	}
	for i := range c.m.Children {
		st := c.statement(item("children", i)+".query", c.m.Children[i].Query)
		if st == nil {
			continue
		}
		st.placeholders(1, "the array of ids")
		if !st.outer("order") {
			c.fault(st.path, "the query of child %q has no ORDER BY; without one equal rows give unequal documents", c.m.Children[i].Field)
		}
	}
}

// statement cuts a text into tokens and checks what holds for all SQL of a
// model; nil where that failed.
func (c *checker) statement(path, sql string) *statement {
	if strings.TrimSpace(sql) == "" {
		return nil
	}
	if len(sql) > maxSQL {
		c.fault(path, "the SQL has %d bytes; at most %d are allowed, make a view of it", len(sql), maxSQL)
		return nil
	}
	tokens, err := sqlTokens(sql)
	if err != nil {
		c.fault(path, "the SQL is cut short: %s", err)
		return nil
	}
	st := &statement{c: c, path: path, tokens: tokens}
	if !st.single() {
		return nil
	}
	st.steady()
	return st
}

func (st *statement) single() bool {
	if slices.ContainsFunc(st.tokens, func(t sqlToken) bool { return t.text == ";" }) {
		st.c.fault(st.path, "the SQL holds a semicolon; write one statement without it")
		return false
	}
	if len(st.tokens) == 0 || st.tokens[0].text != "select" && st.tokens[0].text != "with" {
		st.c.fault(st.path, "the SQL must be one SELECT (or WITH … SELECT)")
		return false
	}
	return true
}

// unsteady are calls and keywords whose value changes without a change of a
// row: no event would follow, so a document could never equal them for long.
var unsteady = []string{
	"now", "current_date", "current_time", "current_timestamp", "localtime", "localtimestamp", "clock_timestamp",
	"statement_timestamp", "transaction_timestamp", "timeofday", "random", "gen_random_uuid", "nextval", "current_user", "session_user",
}

func (st *statement) steady() {
	for i, t := range st.tokens {
		if !t.word || !contains(unsteady, t.text) || !st.called(i) {
			continue
		}
		st.c.fault(st.path, "the SQL uses %s, which changes without an event; compute it where it is shown", t.text)
		return
	}
}

// called tells a call or keyword from a column or alias of the same name.
func (st *statement) called(i int) bool {
	if i > 0 && (st.tokens[i-1].text == "." || st.tokens[i-1].text == "as") {
		return false
	}
	call := i+1 < len(st.tokens) && st.tokens[i+1].text == "("
	return call || strings.HasPrefix(st.tokens[i].text, "current_") || strings.HasPrefix(st.tokens[i].text, "local")
}

// placeholders wants exactly $1 … $n.
func (st *statement) placeholders(n int, meaning string) {
	found := make([]bool, n)
	for _, t := range st.tokens {
		if t.param == 0 {
			continue
		}
		if t.param > n {
			st.c.fault(st.path, "the SQL uses $%d; here is %s", t.param, meaning)
			return
		}
		found[t.param-1] = true
	}
	if i := slices.Index(found, false); i >= 0 {
		st.c.fault(st.path, "the SQL does not use $%d; here is %s", i+1, meaning)
	}
}

// paged wants ORDER BY and LIMIT: a walk in pages goes wrong without them.
func (st *statement) paged() {
	for _, word := range []string{"order", "limit"} {
		if !st.outer(word) {
			st.c.fault(st.path, "the SQL is read in pages and has no %s; end it with ORDER BY id LIMIT", map[string]string{"order": "ORDER BY", "limit": "LIMIT"}[word])
			return
		}
	}
}

// outer tells whether a word stands outside all parentheses.
func (st *statement) outer(word string) bool {
	depth := 0
	for _, t := range st.tokens {
		switch {
		case t.text == "(":
			depth++
		case t.text == ")":
			depth--
		case depth == 0 && t.word && t.text == word:
			return true
		}
	}
	return false
}

// sqlToken is a word in lower case, a placeholder, or one other character.
// Quoted names, strings and comments are passed over: nothing in them counts.
type sqlToken struct {
	text  string
	word  bool
	param int
}

func sqlTokens(sql string) ([]sqlToken, error) {
	var out []sqlToken
	for i := 0; i < len(sql); {
		n, t, err := nextToken(sql[i:])
		if err != nil {
			return nil, fmt.Errorf("%w, opened in line %d of it", err, 1+strings.Count(sql[:i], "\n"))
		}
		if t.text != "" {
			out = append(out, t)
		}
		i += n
	}
	return out, nil
}
