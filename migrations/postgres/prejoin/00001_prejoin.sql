-- What Prejoin needs on a shard: its schema, two roles, the publication.
-- Run it as an owner of the database, with goose or with psql. Afterwards, for
-- each table that a read model names (migrations/postgres/sample does so):
--   ALTER PUBLICATION prejoin ADD TABLE t;
--   GRANT SELECT ON t TO prejoin_projector, prejoin_capture;

-- +goose Up
CREATE SCHEMA IF NOT EXISTS prejoin;

-- Roles belong to the cluster, not to the database: a second shard in the same
-- cluster finds them there, or makes them in the same moment as the first.
-- +goose StatementBegin
DO $$
DECLARE
  wanted record;
BEGIN
  FOR wanted IN
    SELECT * FROM (VALUES ('prejoin_projector', 'LOGIN'), ('prejoin_capture', 'LOGIN REPLICATION')) w (name, attributes)
  LOOP
    BEGIN
      IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = wanted.name) THEN
        EXECUTE format('CREATE ROLE %I %s', wanted.name, wanted.attributes);
      END IF;
    EXCEPTION WHEN duplicate_object OR unique_violation THEN
      NULL;
    END;
  END LOOP;
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'prejoin_capture' AND NOT (rolcanlogin AND rolreplication)) THEN
    RAISE EXCEPTION 'the role prejoin_capture is there but may not replicate'
      USING HINT = 'run: ALTER ROLE prejoin_capture LOGIN REPLICATION';
  END IF;
  IF EXISTS (SELECT FROM pg_roles WHERE rolname IN ('prejoin_projector', 'prejoin_capture') AND rolsuper) THEN
    RAISE EXCEPTION 'a role of Prejoin is a superuser, which the projector never needs'
      USING HINT = 'run: ALTER ROLE prejoin_projector NOSUPERUSER; ALTER ROLE prejoin_capture NOSUPERUSER';
  END IF;
END
$$;
-- +goose StatementEnd

-- One row says which life of the server this is. UNLOGGED on purpose: a crash,
-- a promotion and a base backup empty it, a clean restart keeps it, and a
-- standby cannot read it. The ranks of two lives do not compare.
CREATE UNLOGGED TABLE prejoin.incarnation (
  one               bool PRIMARY KEY DEFAULT true CHECK (one),
  id                uuid NOT NULL,
  system_identifier text NOT NULL
);

-- Capture writes here now and then, so that an idle shard's slot moves on.
CREATE TABLE prejoin.heartbeat (
  id int         PRIMARY KEY,
  at timestamptz NOT NULL
);
INSERT INTO prejoin.heartbeat VALUES (1, now());

CREATE PUBLICATION prejoin FOR TABLE prejoin.heartbeat WITH (publish_via_partition_root = true);

GRANT USAGE ON SCHEMA prejoin TO prejoin_projector, prejoin_capture;
GRANT SELECT, INSERT ON prejoin.incarnation TO prejoin_projector;
GRANT SELECT ON prejoin.heartbeat TO prejoin_projector;
GRANT SELECT, INSERT, UPDATE ON prejoin.heartbeat TO prejoin_capture;
