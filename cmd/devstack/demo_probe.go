package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
)

// errOvertaken: the workload renamed the probe's order or removed its settlement
// before the document was looked at.
var errOvertaken = errors.New("the workload was faster than the probe")

// choose takes one of the first 50 settlements of the merchant, or of the fewer
// that it has, each in its turn.
const choose = `
	WITH few AS (SELECT id FROM settlement WHERE merchant_id = $1 ORDER BY id LIMIT 50)
	SELECT id FROM few ORDER BY id OFFSET $2 % (SELECT greatest(1, count(*)) FROM few) LIMIT 1`

const rename = `
	UPDATE orders o SET product_name = regexp_replace(product_name, ' #[0-9]+$', '') || $1
	FROM settlement s WHERE s.order_id = o.id AND s.id = $2 RETURNING o.product_name`

// probe changes one order and waits until a document of it shows the change.
func probe(ctx context.Context, conn *pgx.Conn, documents *mongo.Collection, n int) (time.Duration, error) {
	var id int64
	switch err := conn.QueryRow(ctx, choose, largest, n).Scan(&id); {
	case errors.Is(err, pgx.ErrNoRows):
		return 0, fmt.Errorf("merchant %d has no settlement left to change; give more --settlements", largest)
	case err != nil:
		return 0, err
	}
	var name string
	if err := conn.QueryRow(ctx, rename, fmt.Sprintf(" #%d", n), id).Scan(&name); err != nil {
		return 0, overtaken(err)
	}
	committed := time.Now()
	for look := 1; ; look++ {
		shown, err := shows(ctx, documents, id, name)
		if err != nil || shown {
			return time.Since(committed), err
		}
		if look%100 == 0 { // now and then: it must not become a load of its own
			err = still(ctx, conn, id, name)
		}
		if err == nil {
			err = sleep(ctx, 2*time.Millisecond)
		}
		if err != nil {
			return 0, err
		}
	}
}

// shows tells whether the document has the name.
func shows(ctx context.Context, documents *mongo.Collection, id int64, name string) (bool, error) {
	var row struct {
		Name string `bson:"productName"`
	}
	err := documents.FindOne(ctx, bson.M{"_id": id}).Decode(&row)
	if errors.Is(err, mongo.ErrNoDocuments) {
		return false, nil
	}
	return row.Name == name, err
}

// still is errOvertaken when the order has another name by now.
func still(ctx context.Context, conn *pgx.Conn, id int64, name string) error {
	var has bool
	err := conn.QueryRow(ctx, "SELECT o.product_name = $2 FROM settlement s JOIN orders o ON o.id = s.order_id WHERE s.id = $1", id, name).Scan(&has)
	if err == nil && !has {
		return errOvertaken
	}
	return overtaken(err)
}

// overtaken is err, or errOvertaken where it means that the settlement is gone.
func overtaken(err error) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return errOvertaken
	}
	return err
}
