// Package livepath is the bench of the projector's live path. The same documents
// are rewritten on the same mongod by four ways that each hold the one before:
//
//	bare     the driver's bulks of the conditional update, encoded beforehand
//	apply    mongodb.Apply with the same documents: encodes, writes, and knows each outcome
//	refresh  the documents are re-read from the shard first
//	live     messages are sent, fetched, decoded, routed, coalesced, and refreshed; until the watermark is stored
//
// In flow a model and a number of rows; out flows a bench. It starts servers of
// its own: PostgreSQL, MongoDB and kfake.
package livepath
