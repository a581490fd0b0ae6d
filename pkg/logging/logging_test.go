package logging_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"prejoin/pkg/logging"
)

func TestRedact(t *testing.T) {
	check := func(in, want string) {
		t.Helper()
		if got := logging.Redact(in); got != want {
			t.Errorf("Redact(%q)\n got %q\nwant %q", in, got, want)
		}
	}
	check("postgres://u:s3cret@h:5432/db?sslmode=disable", "postgres://u:***@h:5432/db?sslmode=disable")
	check("postgres://u@h/db", "postgres://u@h/db")
	check("postgres://h/db?user=u&password=s3cret&x=1", "postgres://h/db?user=u&password=***&x=1")
	check("postgres://u:s3/c?r@t@h/db", "postgres://u:***@h/db")
	check("postgres://u:@h/db", "postgres://u:***@h/db")
	check("mongodb://u:s3cret@a:1,b:2/?replicaSet=rs0", "mongodb://u:***@a:1,b:2/?replicaSet=rs0")
	check("mongodb+srv://u:s3cret@c/?authMechanismProperties=AWS_SESSION_TOKEN:s3cret", "mongodb+srv://u:***@c/?authMechanismProperties=***")
	check("mongodb://127.0.0.1:27017/?replicaSet=rs0", "mongodb://127.0.0.1:27017/?replicaSet=rs0")
	check("host=h user=u password=s3cret dbname=d", "host=h user=u password=*** dbname=d")
	check("password = 's3 \\' cret' host=h", "password = *** host=h")
	check(`password=s3\ cret host=h`, "password=*** host=h")
	check("host=h sslpassword=s3cret", "host=h sslpassword=***")
	check("password='s3 cret host=h", "password=***")
	check("host=h options=-csearch_path=x://y password=s3cret", "host=h options=-csearch_path=x://y password=***")
	check("u:s3cret@localhost", "u:***@localhost")
	check("", "")
}

func FuzzRedact(f *testing.F) {
	f.Add("u", "h/db")
	f.Fuzz(func(t *testing.T, user, rest string) {
		const secret = "S3CRETS3CRET"
		for _, dsn := range []string{
			"postgres://" + user + ":" + secret + "@" + rest,
			"mongodb://h/?x=" + "1&password=" + secret + "&" + rest,
		} {
			if strings.Contains(user, "://") || strings.ContainsAny(user, " =") {
				continue
			}
			if strings.Contains(logging.Redact(dsn), secret) {
				t.Errorf("Redact(%q) = %q keeps the secret", dsn, logging.Redact(dsn))
			}
		}
	})
}

func TestSecretsNeverReachTheLog(t *testing.T) {
	for _, format := range []string{"text", "json"} {
		var out bytes.Buffer
		log, err := logging.New(logging.Config{Format: format, Level: "debug"}, &out)
		if err != nil {
			t.Fatal(err)
		}
		const dsn = "postgres://u:s3cret@h/db"
		log.Info("connecting to "+dsn, "dsn", dsn, "password", "s3cret", "err", errors.New("dialing "+dsn+": refused"))
		log.WithGroup("g").With("mongo_token", "s3cret").Warn("host=h password=s3cret")
		if strings.Contains(out.String(), "s3cret") {
			t.Errorf("%s log keeps the secret: %s", format, &out)
		}
		if !strings.Contains(out.String(), "u:***@h/db: refused") {
			t.Errorf("%s log lost too much: %s", format, &out)
		}
	}
}

func TestConfigIsChecked(t *testing.T) {
	for _, cfg := range []logging.Config{{Format: "xml"}, {Level: "loud"}} {
		if _, err := logging.New(cfg, nil); err == nil || !strings.Contains(err.Error(), "use ") {
			t.Errorf("New(%+v): %v; want an error that says what to use", cfg, err)
		}
	}
}

func TestThrottleCountsWhatItLeavesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		log, _ := logging.New(logging.Config{Format: "json"}, &out)
		throttle := logging.NewThrottle(log, time.Minute)
		for range 10 {
			throttle.Warn(t.Context(), "slow", "slow shard", "shard", "shard0")
		}
		throttle.Warn(t.Context(), "other", "another kind")
		time.Sleep(time.Minute)
		throttle.Warn(t.Context(), "slow", "slow shard", "shard", "shard0")
		throttle.Warn(t.Context(), "slow", "slow shard", "shard", "shard0")
		throttle.Flush(t.Context())

		want := []any{nil, nil, float64(9), float64(1)}
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		if len(lines) != len(want) {
			t.Fatalf("%d lines, want %d:\n%s", len(lines), len(want), &out)
		}
		for i, line := range lines {
			var got map[string]any
			if err := json.Unmarshal([]byte(line), &got); err != nil {
				t.Fatal(err)
			}
			if got["suppressed"] != want[i] {
				t.Errorf("line %d: suppressed %v, want %v", i, got["suppressed"], want[i])
			}
		}
	})
}
