package plan_test

import (
	"strings"
	"testing"

	"prejoin/pkg/plan"
	"prejoin/pkg/testenv"
)

const shipments = `model: shipment
version: 1
id: id
scope: {merchant: merchantId}
root: SELECT s.id, s.merchant_id AS "merchantId", s.sent_on AS "sentOn" FROM public.shipment s WHERE s.id = ANY($1)
ids: SELECT id FROM public.shipment WHERE ($1::bigint IS NULL OR id > $1) ORDER BY id LIMIT $2
routes: [{table: public.shipment, id: id}]
fields:
  - {name: id, type: int64, label: {en: No., ko: 번호}}
  - {name: merchantId, type: int64, label: {en: Merchant no., ko: 가맹점번호}}
  - {name: sentOn, type: date, label: {en: Sent on, ko: 발송일}}
access: [{scope: merchant, range: sentOn, sort: -sentOn}]
`

const partitioned = `CREATE TABLE shipment (id bigint NOT NULL, merchant_id bigint NOT NULL, sent_on date NOT NULL, PRIMARY KEY (id, sent_on)) PARTITION BY RANGE (sent_on);
CREATE TABLE shipment_old PARTITION OF shipment FOR VALUES FROM ('2000-01-01') TO ('2026-01-01');
CREATE TABLE shipment_new PARTITION OF shipment FOR VALUES FROM ('2026-01-01') TO ('2030-01-01');
CREATE PUBLICATION prejoin FOR TABLE shipment WITH (publish_via_partition_root = true)`

// Partitions: the root is routed and published as itself, and each leaf has the
// identity that its rows are logged with.
func TestPartitions(t *testing.T) {
	leaf := strings.ReplaceAll(shipments, "public.shipment, id", "public.shipment_old, id")
	for _, c := range []struct{ name, model, sql, where, problem, fix string }{
		{"warned only", shipments, "", "", "gives no change events", "run projector backfill after such a statement"},
		{"leaf without identity", shipments, "ALTER TABLE shipment_new REPLICA IDENTITY NOTHING", "public.shipment_new", "replica identity (nothing) lacks", "ALTER TABLE public.shipment_new REPLICA IDENTITY DEFAULT;"},
		{"not via the root", shipments, "ALTER PUBLICATION prejoin SET (publish_via_partition_root = false)", "public.shipment", "published under their own names", "ALTER PUBLICATION prejoin SET (publish_via_partition_root = true);"},
		{"a leaf is routed", leaf, "", "public.shipment_old", "published as those of public.shipment", "route public.shipment"},
		{"the other leaves are unknown then", leaf, "", "public.shipment_new", "no route", "add a route"},
		{"foreign leaf", shipments, "CREATE EXTENSION postgres_fdw; CREATE SERVER far FOREIGN DATA WRAPPER postgres_fdw; DROP PUBLICATION prejoin; ALTER TABLE shipment DROP CONSTRAINT shipment_pkey; CREATE FOREIGN TABLE shipment_far PARTITION OF shipment FOR VALUES FROM ('1990-01-01') TO ('2000-01-01') SERVER far", "public.shipment_far", "foreign table", "read the tables"},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) {
			shard := testenv.EmptyPostgres(t)
			execute(t, shard, partitioned)
			execute(t, shard, c.sql)
			report := check(t, shard.DSN, parse(t, c.model))
			r := refusal{where: c.where, problem: c.problem, fix: c.fix, severity: plan.Refused}
			switch {
			case c.where == "":
				r.where, r.severity = "public.shipment", plan.Warning
				if len(report.Shards[0].Findings) != 1 || r.find(report) == nil {
					t.Errorf("findings: %+v", report.Shards[0].Findings)
				}
			case c.where != "" && r.find(report) == nil:
				t.Errorf("not found; got %+v", report.Shards[0].Findings)
			}
		})
	}
}
