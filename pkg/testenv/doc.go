// Package testenv gives tests real servers: databases, not mocks.
//
//	func TestMain(m *testing.M) { testenv.Main(m) }          // goleak, and stops what was started
//
//	shard := testenv.Postgres(t)                // one shard: a fresh database with the sample schema, no rows
//	shards := testenv.Shards(t)                 // two shards in two clusters
//	bare := testenv.EmptyPostgres(t)            // a fresh database without any schema
//	uri, database := testenv.MongoDB(t)         // a replica set and the name of a fresh database in it
//	brokers := testenv.Kafka(t)                 // a kfake broker of its own
//	p := testenv.PrivatePostgres(t)             // a cluster of its own: p.Crash(), p.Stop(ctx), p.Restart(ctx)
//	m := testenv.PrivateMongo(t)                // a mongod of its own: m.Kill(), m.Stop(ctx), m.Restart(ctx)
//	rows := testenv.Workbook(t, book, "normal") // an Excel file as openpyxl reads it
//
// In flow SHARD0_DSN, SHARD1_DSN and MONGODB_URI, as `devstack exec --bare`
// sets them (make test does so): the servers behind them are shared by all test
// binaries of the run. Without them the first use starts servers that belong to
// this test binary and end with it. Each test gets databases of its own, which
// are dropped at its end, so tests may run in parallel.
//
// What a cluster has only once is shared all the same: transaction ids (a rank
// rises by other tests' work too), WAL, roles, and the names of replication
// slots (take Shard.Slot). A test that crashes, stops or reconfigures a server
// takes a private one.
package testenv
