package query

import (
	"fmt"
	"net/http"
)

// Problem is a refusal in the words of RFC 9457: an HTTP status, a stable slug
// (the last part of the type URI), a title that never changes for a slug, and a
// detail that says what to do next. Parse and ByID return no other error.
type Problem struct {
	Status int
	Slug   string
	Title  string
	Detail string
}

// Error is the detail, so that a Problem reads well in a log.
func (p *Problem) Error() string { return p.Title + ": " + p.Detail }

// The slugs of this package; docs/api.md explains each.
const (
	SlugUnknownParameter = "unknown-parameter"
	SlugBadParameter     = "bad-parameter"
	SlugPageToken        = "page-token"
	SlugOutOfScope       = "out-of-scope"
	SlugPersonalField    = "personal-field"
	SlugNoAccessPattern  = "no-access-pattern"
	SlugTooWide          = "too-wide"
)

func unknownParameter(format string, args ...any) *Problem {
	return &Problem{http.StatusBadRequest, SlugUnknownParameter, "Unknown parameter", fmt.Sprintf(format, args...)}
}

func badParameter(format string, args ...any) *Problem {
	return &Problem{http.StatusBadRequest, SlugBadParameter, "Bad parameter", fmt.Sprintf(format, args...)}
}

func badToken() *Problem {
	return &Problem{http.StatusBadRequest, SlugPageToken, "Page token refused",
		"The page token is damaged or belongs to another query, key or version of the model; ask for the first page again, without page."}
}

func outOfScope(format string, args ...any) *Problem {
	return &Problem{http.StatusForbidden, SlugOutOfScope, "Outside the key's scope", fmt.Sprintf(format, args...)}
}

func personalField(name string) *Problem {
	return &Problem{http.StatusForbidden, SlugPersonalField, "Personal field",
		fmt.Sprintf("This key sees %s only masked, so it cannot filter or sort by it; leave it out, or use a key made with --pii.", name)}
}

func noPattern(format string, args ...any) *Problem {
	return &Problem{http.StatusUnprocessableEntity, SlugNoAccessPattern, "No access pattern serves this", fmt.Sprintf(format, args...)}
}

func tooWide(format string, args ...any) *Problem {
	return &Problem{http.StatusUnprocessableEntity, SlugTooWide, "The request is too wide", fmt.Sprintf(format, args...)}
}
