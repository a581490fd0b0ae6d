package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"prejoin/pkg/access"
	"prejoin/pkg/mongodb"
)

// KeysCmd manages API keys.
type KeysCmd struct {
	Create KeysCreateCmd `cmd:"" help:"Make a key and print it, once."`
	List   KeysListCmd   `cmd:"" help:"List the keys, without their secrets."`
	Revoke KeysRevokeCmd `cmd:"" help:"Make a key invalid. It takes a few seconds to reach every queryd."`
}

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
	db, err := env.Open(ctx)
	if err != nil {
		return err
	}
	defer db.Close(context.WithoutCancel(ctx))
	k, text := access.NewKey(c.Name)
	err = db.InsertKey(ctx, mongodb.Key{ID: k.ID, Hash: k.Hash, Name: k.Name, All: c.All, Scopes: scopes, Created: k.Created})
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
	for item := range strings.SplitSeq(list, ",") {
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

func scopeValue(item string) (any, error) {
	if text, ok := strings.CutPrefix(item, `"`); ok && strings.HasSuffix(text, `"`) {
		return strings.TrimSuffix(text, `"`), nil
	}
	if n, err := strconv.ParseInt(item, 10, 64); err == nil {
		return n, nil
	}
	if item == "" || strings.Trim(item, "0123456789-+.") == "" {
		return nil, fmt.Errorf("%q is no value; give whole numbers of 64 bits or text", item)
	}
	return item, nil
}

// KeysListCmd lists the keys.
type KeysListCmd struct {
	JSON bool `name:"json" help:"One JSON array instead of a table."`
}

// listed is a key as it is shown.
type listed struct {
	ID      string           `json:"id"`
	Name    string           `json:"name"`
	All     bool             `json:"all"`
	Scopes  map[string][]any `json:"scopes,omitempty"`
	Created time.Time        `json:"created"`
	Revoked *time.Time       `json:"revoked,omitempty"`
}

// Run prints a table, or JSON.
func (c *KeysListCmd) Run(ctx context.Context, env *Env) error {
	db, err := env.Open(ctx)
	if err != nil {
		return err
	}
	defer db.Close(context.WithoutCancel(ctx))
	keys, err := db.Keys(ctx)
	if err != nil {
		return err
	}
	list := make([]listed, len(keys))
	for i, k := range keys {
		list[i] = listed{ID: k.ID, Name: k.Name, All: k.All, Scopes: k.Scopes, Created: k.Created}
		if !k.Revoked.IsZero() {
			list[i].Revoked = &k.Revoked
		}
	}
	if c.JSON {
		e := json.NewEncoder(env.Stdout)
		e.SetIndent("", "  ")
		return e.Encode(list)
	}
	return table(env.Stdout, list)
}

func table(w io.Writer, list []listed) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "ID\tNAME\tREADS\tCREATED\tREVOKED")
	for _, k := range list {
		revoked := "-"
		if k.Revoked != nil {
			revoked = k.Revoked.UTC().Format(time.RFC3339)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", k.ID, printable(k.Name), reads(k), k.Created.UTC().Format(time.RFC3339), revoked)
	}
	return t.Flush()
}

// printable keeps a name from steering the terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if strconv.IsPrint(r) {
			return r
		}
		return '?'
	}, s)
}

func reads(k listed) string {
	if k.All {
		return "all"
	}
	var parts []string
	for name, values := range k.Scopes {
		texts := make([]string, len(values))
		for i, v := range values {
			texts[i] = fmt.Sprint(v)
		}
		if len(texts) > 5 {
			texts = append(texts[:5], fmt.Sprintf("… (%d)", len(values)))
		}
		parts = append(parts, printable(name+"="+strings.Join(texts, ",")))
	}
	slices.Sort(parts)
	return strings.Join(parts, " ")
}

// KeysRevokeCmd makes a key invalid.
type KeysRevokeCmd struct {
	ID string `arg:"" help:"The key's id, as keys list shows it."`
}

// Run revokes; revoking again changes nothing.
func (c *KeysRevokeCmd) Run(ctx context.Context, env *Env) error {
	db, err := env.Open(ctx)
	if err != nil {
		return err
	}
	defer db.Close(context.WithoutCancel(ctx))
	err = db.RevokeKey(ctx, c.ID)
	if errors.Is(err, mongodb.ErrNotFound) {
		return errors.New("there is no key of that id; queryd keys list shows the ids (the 12 characters after pj_)")
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(env.Stderr, "Key %s is revoked.\n", c.ID)
	return nil
}
