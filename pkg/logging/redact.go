package logging

import (
	"regexp"
	"strings"
)

const mask = "***"

var (
	secretName = regexp.MustCompile(`(?i)^(password|passwd|secret|token|authorization|api_?key|.*_(password|secret|token))$`)
	// A secret parameter of a URI's query.
	queryPair = regexp.MustCompile(`(?i)([?&][^=&\s]*(?:password|passwd|secret|token|authmechanismproperties)[^=&\s]*=)[^&\s]*`)
	// A secret of PostgreSQL's "key=value key='quoted value'" form. An
	// unterminated quote swallows the rest: better too much than too little.
	keyPair = regexp.MustCompile(`(?i)((?:^|\s)[a-z_]*(?:password|passwd|secret|token)[a-z_]*\s*=\s*)(?:'(?:\\.|[^'\\])*'?|(?:\\.|[^\s\\])+)`)
	uriText = regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]*://[^\s"'` + "`" + `]+`)
)

// Redact returns a DSN or URI of any of the servers with its passwords
// replaced by ***. Hosts, database and user stay readable.
func Redact(dsn string) string {
	scheme, rest, isURI := strings.Cut(dsn, "://")
	if !isURI || strings.ContainsAny(scheme, " =") {
		dsn = keyPair.ReplaceAllString(dsn, "${1}"+mask)
		if strings.ContainsAny(dsn, " \t\n") {
			return dsn
		}
		return redactUser(dsn) // a URI that lacks its scheme
	}
	return scheme + "://" + queryPair.ReplaceAllString(redactUser(rest), "${1}"+mask)
}

// redactUser hides the password of user:password@rest. The last @ ends it even
// where a password holds a bare @, / or ?; a @ further on hides the hosts,
// which is the lesser harm.
func redactUser(rest string) string {
	at := strings.LastIndexByte(rest, '@')
	if at < 0 {
		return rest
	}
	user, _, hasPassword := strings.Cut(rest[:at], ":")
	if hasPassword {
		user += ":" + mask
	}
	return user + rest[at:]
}

// RedactText replaces the passwords of all URIs and DSNs within a longer text,
// such as an error's.
func RedactText(text string) string {
	if strings.Contains(text, "://") {
		text = uriText.ReplaceAllStringFunc(text, Redact)
	}
	if !strings.Contains(text, "=") {
		return text
	}
	return keyPair.ReplaceAllString(text, "${1}"+mask)
}
