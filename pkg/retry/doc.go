// Package retry repeats a call for as long as its error is one that time can
// cure. In flow a function and a judgement of its errors; out flows its first
// success, its first lasting error, or the end of the context.
//
// It promises that waits grow to a cap and no further, that they are jittered
// so that many callers do not return together, and that a cancelled context
// ends a wait at once. It never guesses: only what the caller's func calls
// temporary is tried again (an outage pauses, law 3 of the design).
package retry
