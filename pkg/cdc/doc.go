// Package cdc reads and writes change events; it does no I/O.
//
// In flows one Kafka message, out flows one Change: which row of which table was touched, by which
// transaction, with the columns that the caller asked for. It reads Debezium's envelope with and without a
// schema (told apart message by message), tombstones, truncates, logical messages, heartbeats, transaction metadata, and
// the transaction markers that kafka-go delivers as messages. Flattened events (ExtractNewRecordState) are refused: they
// do not name the row as it was.
// The way back, AppendEnvelope and AppendKey, is what the built-in capture writes.
//
// It promises that the digits of a number leave as they came (no float64 anywhere), that nothing but the wanted
// columns is decoded, that memory is bounded by the size of the message, and that a message which it does not
// understand is an error that says what was expected: never a Change with something left out. That is its part
// of law 3, no silent loss.
//
// Without a schema, Debezium's default `decimal.handling.mode=precise` writes a numeric as base64 with its
// scale nowhere in the message. Such a value is handed out as the text that it is, so a numeric column that a
// route uses needs `decimal.handling.mode=string` or a converter with schemas.
package cdc
