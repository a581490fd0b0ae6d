package cdc

// frame is the outline of a message: the raw bytes of the members that tell what it is.
type frame struct {
	schema, payload       []byte // of the form with a schema
	before, after, source []byte
	op, tsMs              []byte
	status, id            []byte // of transaction metadata
	collections           bool
	flatOp, flatTx        []byte // of the flattened form
	flatLSN, flatTs       []byte
	flatSchema, flatTable []byte
	flatName, deleted     []byte
	members               int
}

// outline reads the members of the object in b, and of its payload where it has a schema.
func outline(b []byte) (frame, error) {
	f, err := members(b)
	if err != nil || f.schema == nil || f.members != 2 || isNull(f.payload) {
		return f, err
	}
	inner, err := members(f.payload)
	inner.schema = f.schema
	return inner, err
}

func members(b []byte) (frame, error) {
	var f frame
	s := scanner{b: b}
	s.open('{')
	for first := true; s.more('}', first); first = false {
		name := s.name()
		f.set(string(name), s.raw())
	}
	return f, s.end()
}

func (f *frame) set(name string, raw []byte) {
	f.members++
	switch name {
	case "schema":
		f.schema = raw
	case "payload":
		f.payload = raw
	case "before":
		f.before = raw
	case "after":
		f.after = raw
	case "source":
		f.source = raw
	case "op":
		f.op = raw
	case "ts_ms":
		f.tsMs = raw
	case "status":
		f.status = raw
	case "id":
		f.id = raw
	case "data_collections":
		f.collections = true
	default:
		f.setFlat(name, raw)
	}
}

func (f *frame) setFlat(name string, raw []byte) {
	switch name {
	case "__op":
		f.flatOp = raw
	case "__lsn", "__source_lsn":
		f.flatLSN = raw
	case "__txId", "__source_txId":
		f.flatTx = raw
	case "__source_ts_ms":
		f.flatTs = raw
	case "__schema", "__source_schema":
		f.flatSchema = raw
	case "__table", "__source_table":
		f.flatTable = raw
	case "__name", "__source_name":
		f.flatName = raw
	case "__deleted":
		f.deleted = raw
	}
}
