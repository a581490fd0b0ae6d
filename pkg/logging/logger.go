package logging

import (
	"fmt"
	"io"
	"log/slog"
	"strings"
)

// Config says how log lines look and which are written.
type Config struct {
	Format string // "text" or "json"; "": text
	Level  string // "debug", "info", "warn" or "error"; "": info
}

// New returns a logger that writes to w and redacts secrets.
func New(cfg Config, w io.Writer) (*slog.Logger, error) {
	var level slog.Level
	if cfg.Level != "" {
		if err := level.UnmarshalText([]byte(cfg.Level)); err != nil {
			return nil, fmt.Errorf("log level %q is unknown: use debug, info, warn or error", cfg.Level)
		}
	}
	options := &slog.HandlerOptions{Level: level, ReplaceAttr: redactAttr}
	switch cfg.Format {
	case "", "text":
		return slog.New(slog.NewTextHandler(w, options)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(w, options)), nil
	}
	return nil, fmt.Errorf("log format %q is unknown: use text or json", cfg.Format)
}

// redactAttr hides the value of an attribute that is named like a secret, and
// the passwords within any other text, the message included.
func redactAttr(_ []string, a slog.Attr) slog.Attr {
	if secretName.MatchString(a.Key) {
		return slog.String(a.Key, mask)
	}
	switch v := a.Value.Any().(type) {
	case string:
		a.Value = slog.StringValue(RedactText(v))
	case error:
		a.Value = slog.StringValue(RedactText(v.Error()))
	case fmt.Stringer:
		if text := v.String(); strings.Contains(text, "://") {
			a.Value = slog.StringValue(RedactText(text))
		}
	}
	return a
}
