package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

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
	PII     bool             `json:"pii"`
	Created time.Time        `json:"created"`
	Revoked *time.Time       `json:"revoked,omitempty"`
}

// Run prints a table, or JSON.
func (c *KeysListCmd) Run(ctx context.Context, env *Env) error {
	db, done, err := env.Open(ctx)
	if err != nil {
		return err
	}
	defer done()
	keys, err := db.Keys(ctx)
	if err != nil {
		return err
	}
	list := make([]listed, len(keys))
	for i, k := range keys {
		list[i] = listed{ID: k.ID, Name: k.Name, All: k.All, Scopes: k.Scopes, PII: k.PII, Created: k.Created}
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
	fmt.Fprintln(t, "ID\tNAME\tREADS\tPERSONAL\tCREATED\tREVOKED")
	for _, k := range list {
		revoked := "-"
		if k.Revoked != nil {
			revoked = k.Revoked.UTC().Format(time.RFC3339)
		}
		personal := "masked"
		if k.PII {
			personal = "shown"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", k.ID, printable(k.Name), reads(k), personal, k.Created.UTC().Format(time.RFC3339), revoked)
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
