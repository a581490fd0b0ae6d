package httpapi

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"prejoin/pkg/query"
)

// fileName is model-day-time.extension, in the request's zone.
func fileName(q *query.Request, extension string, at time.Time) string {
	return fmt.Sprintf("%s-%s.%s", q.Model.Name, at.In(q.Zone).Format("20060102-150405"), extension)
}

// disposition names a download as RFC 6266 asks: filename for old clients, in
// ASCII, and filename* for the true name.
func disposition(name string) string {
	ascii := strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' || strings.ContainsRune(`"\/;%`, r) {
			return '_'
		}
		return r
	}, name)
	if ascii == name {
		return `attachment; filename="` + name + `"`
	}
	return `attachment; filename="` + ascii + `"; filename*=UTF-8''` + url.PathEscape(name)
}
