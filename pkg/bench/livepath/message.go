package livepath

import (
	"context"
	"fmt"
	"strings"
	"time"

	"prejoin/pkg/cdc"
	"prejoin/pkg/kafka"
	"prejoin/pkg/readmodel"
)

// compose makes the messages: updates of every row by the last transaction, as
// capture writes them.
func (w *world) compose(context.Context) error {
	route, err := routeByID(w.model)
	if err != nil {
		return err
	}
	schema, table, _ := strings.Cut(route.Table, ".")
	now := time.Now()
	w.messages = make([]kafka.Message, 0, w.rows)
	for _, page := range w.pages {
		for _, id := range page {
			row := []cdc.Column{{Name: route.ID, Text: []byte(id), Form: cdc.Number}}
			w.messages = append(w.messages, kafka.Message{
				Topic: shardName + "." + route.Table,
				Key:   cdc.AppendKey(nil, row),
				Value: cdc.AppendEnvelope(nil, &cdc.Envelope{Op: 'u', Shard: shardName, Database: shardName,
					Schema: schema, Table: table, TxID: w.txid, Committed: now, Now: now, After: row}),
			})
		}
	}
	return nil
}

func routeByID(m *readmodel.Model) (readmodel.Route, error) {
	for _, r := range m.Routes {
		if r.ID != "" {
			return r, nil
		}
	}
	return readmodel.Route{}, fmt.Errorf("model %s has no route by id, whose changes could be sent: choose another model", m.Name)
}
