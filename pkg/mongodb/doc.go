// Package mongodb keeps the read side's documents and Prejoin's own records.
// In flow versioned documents, records and finds; out flow one outcome a write,
// and raw BSON a batch at a time. No type of the driver but bson's leaves it.
//
// It keeps law 2 (no regress): Apply is the conditional write of design §4. It
// replaces a document only by one of a higher version of the same shard and
// epoch, and only before a deadline on MongoDB's own clock, so that neither a
// slow writer nor a replay can bring an older state back. It keeps its part of
// law 3: what Apply calls Applied or Superfluous is held by a majority, what
// time can cure is Temporary, and what nothing can cure is named with its id.
//
// There are two clients. The one for writes has no client timeout and a
// deadline a bulk, because only so does the driver send maxTimeMS with a bulk,
// and only with maxTimeMS is the deadline real ($$NOW is taken when a command
// starts). The one for reads has a client timeout and sends maxTimeMS as asked.
package mongodb
