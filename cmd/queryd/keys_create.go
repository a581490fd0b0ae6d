package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"prejoin/pkg/access"
	"prejoin/pkg/mongodb"
)

// KeysCreateCmd makes a key. It reads either all rows or some scopes' values;
// with several scopes a row must be inside each.
type KeysCreateCmd struct {
	Name     string   `required:"" help:"What the key is for; shown in the list."`
	All      bool     `help:"May read all rows (operators)."`
	Merchant []string `help:"Short for --scope merchant=…" placeholder:"ID,…"`
	Partner  []string `help:"Short for --scope partner=…" placeholder:"ID,…"`
	Scope    []string `help:"A scope of the models and the values that may be read; whole numbers are numbers, a value in double quotes is text." placeholder:"NAME=VALUE,…" sep:"none"`
	Pii      bool     `name:"pii" help:"Sees personal fields unmasked."`
}

// Run prints the key alone on stdout, so that KEY=$(queryd keys create …) works.
func (c *KeysCreateCmd) Run(ctx context.Context, env *Env) error {
	scopes, err := c.scopes()
	if err != nil {
		return err
	}
	db, done, err := env.Open(ctx)
	if err != nil {
		return err
	}
	defer done()
	k, text := access.NewKey(c.Name)
	err = db.InsertKey(ctx, mongodb.Key{ID: k.ID, Hash: k.Hash, Name: k.Name, All: c.All, Scopes: scopes, PII: c.Pii, Created: k.Created})
	if err != nil {
		return err
	}
	fmt.Fprintln(env.Stdout, text)
	fmt.Fprintf(env.Stderr, "This is the only time the key is shown. Send it as Authorization: Bearer …; revoke it with: queryd keys revoke %s\n", k.ID)
	return nil
}

func (c *KeysCreateCmd) scopes() (map[string][]any, error) {
	all := c.Scope
	for name, values := range map[string][]string{"merchant": c.Merchant, "partner": c.Partner} {
		if len(values) > 0 {
			all = append(all, name+"="+strings.Join(values, ","))
		}
	}
	if c.All == (len(all) > 0) {
		return nil, errors.New("a key reads either everything or some scopes; give --all, or --merchant, --partner or --scope NAME=VALUE,…")
	}
	scopes := map[string][]any{}
	for _, one := range all {
		name, values, err := scope(one)
		if err != nil {
			return nil, err
		}
		if scopes[name] != nil {
			return nil, fmt.Errorf("the scope %s is given twice; give all its values in one", name)
		}
		scopes[name] = values
	}
	return scopes, nil
}

var scopeName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]{0,62}$`)

// scope reads NAME=VALUE,…
func scope(text string) (name string, values []any, err error) {
	name, list, _ := strings.Cut(text, "=")
	if !scopeName.MatchString(name) || name == "all" || list == "" {
		return "", nil, fmt.Errorf("--scope %q does not read NAME=VALUE,…; write for example --scope merchant=1,2", text)
	}
	items, err := splitItems(list)
	if err != nil {
		return "", nil, fmt.Errorf("the scope %s: %w", name, err)
	}
	for _, item := range items {
		v, err := scopeValue(strings.TrimSpace(item))
		if err != nil {
			return "", nil, fmt.Errorf("the scope %s: %w", name, err)
		}
		if !slices.Contains(values, v) {
			values = append(values, v)
		}
	}
	return name, values, nil
}

// splitItems splits at the commas that are outside of double quotes.
func splitItems(list string) ([]string, error) {
	var items []string
	start, quoted := 0, false
	for i := range len(list) {
		switch {
		case list[i] == '"':
			quoted = !quoted
		case list[i] == ',' && !quoted:
			items = append(items, list[start:i])
			start = i + 1
		}
	}
	if quoted {
		return nil, fmt.Errorf("%s has no closing quote; put text into two double quotes", list[start:])
	}
	return append(items, list[start:]), nil
}

func scopeValue(item string) (any, error) {
	if text, ok := strings.CutPrefix(item, `"`); ok && strings.Count(item, `"`) == 2 && strings.HasSuffix(item, `"`) {
		return strings.TrimSuffix(text, `"`), nil
	}
	if strings.Contains(item, `"`) {
		return nil, fmt.Errorf("%s has text outside of its quotes; put the whole of it into two double quotes", item)
	}
	if n, err := strconv.ParseInt(item, 10, 64); err == nil {
		return n, nil
	}
	if item == "" || strings.Trim(item, "0123456789-+.") == "" {
		return nil, fmt.Errorf("%q is no value; give whole numbers of 64 bits or text", item)
	}
	return item, nil
}
