package main

import (
	"context"
	"errors"
	"fmt"

	"prejoin/pkg/mongodb"
)

// KeysRevokeCmd makes a key invalid.
type KeysRevokeCmd struct {
	ID string `arg:"" help:"The key's id, as keys list shows it."`
}

// Run revokes; revoking again changes nothing.
func (c *KeysRevokeCmd) Run(ctx context.Context, env *Env) error {
	db, done, err := env.Open(ctx)
	if err != nil {
		return err
	}
	defer done()
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
