// Package logging sets up log/slog for the daemons. In flow a format, a level
// and a writer; out flows a *slog.Logger.
//
// It promises that no password of a DSN or URI reaches the log, whether it is
// an attribute, an error's text or the message itself, and that a warning that
// repeats is written once an interval with the count of those left out.
package logging
