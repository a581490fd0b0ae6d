package mongodb

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/event"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"
	"go.mongodb.org/mongo-driver/mongo/readconcern"
	"go.mongodb.org/mongo-driver/mongo/readpref"
	"go.mongodb.org/mongo-driver/mongo/writeconcern"

	"prejoin/pkg/logging"
)

// startTimeout bounds how long a server is looked for, at start and later.
const startTimeout = 5 * time.Second

// Config says which server and database to use.
type Config struct {
	URI      string // mongodb:// or mongodb+srv://; a replica set
	Database string // "": prejoin
	AppName  string // shown in the server's log and currentOp; "": prejoin
	// ReadTimeout bounds one request of the read side; 0: 60 s. A find's own
	// bound on the server is Find.MaxTime.
	ReadTimeout time.Duration

	monitor *event.CommandMonitor // tests look at what is sent
}

// DB is a checked connection to one database. It may be used by many goroutines.
type DB struct {
	writer, reader *mongo.Client
	w, r           *mongo.Database
	readTimeout    time.Duration
	bulkTimeout    time.Duration
	leader         leadership
}

// Open connects and checks that the server is a replica set of version 6.0 or
// newer. It answers within about five seconds; its errors name the server
// without the password and end with what to do.
func Open(ctx context.Context, cfg Config) (*DB, error) {
	if cfg.Database == "" {
		cfg.Database = "prejoin"
	}
	if cfg.AppName == "" {
		cfg.AppName = "prejoin"
	}
	if cfg.ReadTimeout <= 0 {
		cfg.ReadTimeout = time.Minute
	}
	db := &DB{readTimeout: cfg.ReadTimeout, bulkTimeout: bulkTimeout}
	if err := db.connect(ctx, cfg); err != nil {
		_ = db.Close(ctx)
		return nil, cfg.explain(err)
	}
	return db, nil
}

func (db *DB) connect(ctx context.Context, cfg Config) (err error) {
	if cfg.URI == "" {
		return errors.New("no URI is given; set --mongodb-uri or MONGODB_URI, such as mongodb://127.0.0.1:27017/?replicaSet=rs0")
	}
	// A zero timeout is what makes the driver derive maxTimeMS from a context's deadline.
	writer := cfg.client().SetTimeout(0).SetServerMonitor(db.leader.monitor())
	if db.writer, err = mongo.Connect(ctx, writer); err != nil {
		return fmt.Errorf("%w; write it as mongodb://host:port/?replicaSet=name", err)
	}
	if db.reader, err = mongo.Connect(ctx, cfg.client().SetTimeout(cfg.ReadTimeout)); err != nil {
		return err
	}
	db.w = db.writer.Database(cfg.Database, options.Database().SetWriteConcern(writeconcern.Majority()).
		SetReadConcern(readconcern.Majority()).SetReadPreference(readpref.Primary()))
	db.r = db.reader.Database(cfg.Database, options.Database().SetReadConcern(readconcern.Majority()))
	ctx, cancel := context.WithTimeout(ctx, startTimeout+time.Second)
	defer cancel()
	return db.check(ctx)
}

func (cfg Config) client() *options.ClientOptions {
	return options.Client().ApplyURI(cfg.URI).SetAppName(cfg.AppName).SetMonitor(cfg.monitor).
		SetServerSelectionTimeout(startTimeout).SetConnectTimeout(startTimeout)
}

// explain makes one sentence of what went wrong at start. The driver's text
// may quote parts of the URI.
func (cfg Config) explain(err error) error {
	text := err.Error()
	if cfg.URI != "" {
		text = strings.ReplaceAll(text, cfg.URI, logging.Redact(cfg.URI))
	}
	where := ""
	if cfg.URI != "" {
		where = " at " + logging.Redact(cfg.URI)
	}
	return &startError{"opening MongoDB" + where + ": " + logging.RedactText(text), err}
}

type startError struct {
	text string
	err  error
}

func (e *startError) Error() string { return e.text }
func (e *startError) Unwrap() error { return e.err }

// Close ends both clients, waiting for running requests as long as ctx allows.
func (db *DB) Close(ctx context.Context) error {
	var errs []error
	for _, client := range []*mongo.Client{db.writer, db.reader} {
		if client != nil {
			errs = append(errs, client.Disconnect(ctx))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("closing MongoDB: %w", err)
	}
	return nil
}
