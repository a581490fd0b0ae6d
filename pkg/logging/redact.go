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
		return keyPair.ReplaceAllString(dsn, "${1}"+mask)
	}
	// The last @ ends the user part even where a password holds a bare @, / or
	// ?; a @ further on hides the hosts, which is the lesser harm.
	if at := strings.LastIndexByte(rest, '@'); at >= 0 {
		user, _, hasPassword := strings.Cut(rest[:at], ":")
		if hasPassword {
			user += ":" + mask
		}
		rest = user + rest[at:]
	}
	return scheme + "://" + queryPair.ReplaceAllString(rest, "${1}"+mask)
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
