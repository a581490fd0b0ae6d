package mongodb

import (
	"sync"

	"go.mongodb.org/mongo-driver/event"
	"go.mongodb.org/mongo-driver/mongo/description"
)

// leadership counts the primaries that were seen. A clock that was sampled
// from one primary says nothing about the clock of the next.
type leadership struct {
	mu      sync.Mutex
	current string
	terms   int64
}

func (l *leadership) monitor() *event.ServerMonitor {
	return &event.ServerMonitor{TopologyDescriptionChanged: func(e *event.TopologyDescriptionChangedEvent) {
		l.see(primary(e.NewDescription))
	}}
}

func (l *leadership) see(primary string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if primary != l.current {
		l.current = primary
		l.terms++
	}
}

// term is a number that differs after every change of primary that was noticed.
func (l *leadership) term() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.terms
}

func primary(topology description.Topology) string {
	for _, server := range topology.Servers {
		if server.Kind == description.RSPrimary {
			return server.Addr.String() + " " + server.ElectionID.Hex()
		}
	}
	return ""
}
