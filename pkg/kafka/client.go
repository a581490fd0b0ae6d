package kafka

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	kafkago "github.com/segmentio/kafka-go"
)

// Config tells how to reach the brokers.
type Config struct {
	Brokers   []string      // host:port of some brokers
	ClientID  string        // shown in the broker's logs; default prejoin
	Timeout   time.Duration // of one request; default 10 s
	FetchWait time.Duration // how long a fetch waits for messages; default 500 ms, at most half of Timeout
	FetchSize int           // bytes a fetch asks for; default 1 MiB; a larger message still arrives
	Log       *slog.Logger  // default: none
}

// Client shares connections and metadata between consumers, producers and lists. It is safe for concurrent use.
type Client struct {
	cfg       Config
	transport *kafkago.Transport
	api       *kafkago.Client
	cancel    context.CancelFunc
}

// Open makes a client. It does not connect: see Ping.
func Open(cfg Config) (*Client, error) {
	if len(cfg.Brokers) == 0 {
		return nil, errors.New("no Kafka brokers given: set --brokers or KAFKA_BROKERS to host:port,…")
	}
	cfg.ClientID = cmp.Or(cfg.ClientID, "prejoin")
	cfg.Timeout = cmp.Or(cfg.Timeout, 10*time.Second)
	cfg.FetchWait = min(cmp.Or(cfg.FetchWait, 500*time.Millisecond), cfg.Timeout/2)
	cfg.FetchSize = cmp.Or(cfg.FetchSize, 1<<20)
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	ctx, cancel := context.WithCancel(context.Background())
	// kafka-go answers metadata requests from a cache of that age. Its default of 6 s is long for a topic that appears.
	transport := &kafkago.Transport{ClientID: cfg.ClientID, MetadataTTL: time.Second, Context: ctx}
	api := &kafkago.Client{Addr: kafkago.TCP(cfg.Brokers...), Timeout: cfg.Timeout, Transport: transport}
	return &Client{cfg: cfg, transport: transport, api: api, cancel: cancel}, nil
}

// Ping tells whether a broker answers.
func (c *Client) Ping(ctx context.Context) error {
	if _, err := c.api.ApiVersions(ctx, &kafkago.ApiVersionsRequest{}); err != nil {
		return fmt.Errorf("asking a broker what it speaks: %w", err)
	}
	return nil
}

// Close ends the connections.
func (c *Client) Close() {
	c.transport.CloseIdleConnections()
	c.cancel()
}
