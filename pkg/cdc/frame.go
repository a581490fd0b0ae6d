package cdc

// frame is the outline of a message: the raw bytes of the members that tell what it is.
type frame struct {
	schema, payload       []byte // of the form with a schema
	before, after, source []byte
	op, tsMs              []byte
	status, id            []byte // of transaction metadata
	collections           bool
	flat                  bool // a member that only ExtractNewRecordState adds
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
	case "__op", "__deleted":
		f.flat = true
	}
}
