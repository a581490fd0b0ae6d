// Package synthetic makes documents of a read model without any server, so that
// a bench measures the path behind the database alone. In flow a model and a
// count; out flow raw BSON documents as the projector would write them. The same
// arguments give the same bytes.
package synthetic
