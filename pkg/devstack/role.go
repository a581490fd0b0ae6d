package devstack

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Roles are the least-privilege roles that the migrations make.
var Roles = []string{"prejoin_projector", "prejoin_capture"}

// RolePassword derives a role's password from the owner's, so that all processes
// of a stack agree on it without telling each other.
func RolePassword(owner, role string) string {
	mac := hmac.New(sha256.New, []byte(owner))
	mac.Write([]byte(role))
	return hex.EncodeToString(mac.Sum(nil)[:16])
}

// SetRolePasswords gives Prejoin's roles in the cluster of the owner's dsn their
// passwords. The migrations, which make the roles, hold no secrets.
func SetRolePasswords(ctx context.Context, dsn string) error {
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return fmt.Errorf("connecting to set role passwords: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	for _, role := range Roles {
		// ALTER ROLE takes no parameters; the password is hexadecimal.
		sql := fmt.Sprintf("ALTER ROLE %s PASSWORD '%s'", role, RolePassword(conn.Config().Password, role))
		if _, err := conn.Exec(ctx, sql); err != nil {
			return fmt.Errorf("setting the password of %s: %w", role, err)
		}
	}
	return nil
}
