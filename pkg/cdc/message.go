package cdc

// Message is one Kafka message as it arrived. A nil Value is a tombstone; an empty one is not.
type Message struct {
	Topic   string
	Key     []byte
	Value   []byte
	Headers []Header
}

// Header is one header of a message.
type Header struct {
	Key   string
	Value []byte
}

// marker tells whether the message is a transaction marker: key int16 version, int16 type; value int16 version,
// int32 coordinator epoch. Both versions are 0, and no JSON starts with a zero byte.
func (m Message) marker() bool {
	return len(m.Key) == 4 && len(m.Value) == 6 &&
		m.Key[0] == 0 && m.Key[1] == 0 && m.Value[0] == 0 && m.Value[1] == 0
}
