-- The sample write side: settlements of a Korean payment company, one shard.
-- docs/sample.md explains the tables and their terms.
--
-- The session must say which shard this is, for ids are unique over all shards:
--   PGOPTIONS='-c prejoin.shard=1'   or   ...?options=-c%20prejoin.shard%3D1

-- +goose Up
CREATE TABLE partner (
  id   bigint PRIMARY KEY,
  name text   NOT NULL
);

CREATE TABLE merchant (
  id             bigint PRIMARY KEY,
  partner_id     bigint REFERENCES partner,
  name           text NOT NULL,
  biz_no         text NOT NULL CHECK (biz_no ~ '^\d{3}-\d{2}-\d{5}$'),
  bank_code      text NOT NULL CHECK (bank_code ~ '^\d{3}$'),
  account_no     text NOT NULL,
  account_holder text NOT NULL,
  created_at     timestamptz NOT NULL DEFAULT now(),
  updated_at     timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE orders (
  id               bigint PRIMARY KEY,
  merchant_id      bigint NOT NULL REFERENCES merchant,
  order_no         text NOT NULL CHECK (order_no ~ '^\d{16}$'),
  product_order_no text NOT NULL CHECK (product_order_no ~ '^\d{16}$'),
  product_name     text NOT NULL,
  buyer_name       text NOT NULL,
  ordered_at       timestamptz NOT NULL,
  confirmed_at     timestamptz CHECK (confirmed_at >= ordered_at),
  updated_at       timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE payment (
  id          bigint PRIMARY KEY,
  order_id    bigint NOT NULL REFERENCES orders,
  merchant_id bigint NOT NULL REFERENCES merchant,
  method      text NOT NULL CHECK (method IN ('CARD', 'TRANSFER', 'VBANK', 'PHONE', 'POINT')),
  card_issuer text,
  installment int CHECK (installment BETWEEN 0 AND 36),
  amount      numeric(18,2) NOT NULL CHECK (amount >= 0),
  paid_at     timestamptz NOT NULL,
  updated_at  timestamptz NOT NULL DEFAULT now(),
  CHECK ((method = 'CARD') = (card_issuer IS NOT NULL)),
  CHECK ((method = 'CARD') = (installment IS NOT NULL))
);

CREATE TABLE settlement (
  id              bigint PRIMARY KEY,
  merchant_id     bigint NOT NULL REFERENCES merchant,
  order_id        bigint NOT NULL REFERENCES orders,
  payment_id      bigint NOT NULL REFERENCES payment,
  type            text NOT NULL CHECK (type IN ('NORMAL', 'FAST', 'CANCEL')),
  status          text NOT NULL CHECK (status IN ('SCHEDULED', 'HELD', 'PAID', 'CANCELED')),
  settlement_base date NOT NULL,
  pay_due         date NOT NULL CHECK (pay_due >= settlement_base),
  paid_out        date,
  payment_amount  numeric(18,2) NOT NULL,
  amount          numeric(18,2) NOT NULL,
  hold_reason     text,
  created_at      timestamptz NOT NULL DEFAULT now(),
  updated_at      timestamptz NOT NULL DEFAULT now(),
  CHECK ((status = 'PAID') = (paid_out IS NOT NULL)),
  CHECK ((status = 'HELD') = (hold_reason IS NOT NULL)),
  CHECK (CASE type WHEN 'CANCEL' THEN payment_amount <= 0 ELSE payment_amount >= 0 END)
);

CREATE TABLE settlement_line (
  id            bigint PRIMARY KEY,
  settlement_id bigint NOT NULL REFERENCES settlement,
  kind          text NOT NULL CHECK (kind IN ('PG_FEE', 'SALES_FEE', 'INSTALLMENT', 'COUPON', 'SHIPPING', 'POINT')),
  base          numeric(18,2) NOT NULL,
  rate          numeric(7,5)  NOT NULL,
  amount        numeric(18,2) NOT NULL,
  vat           numeric(18,2) NOT NULL
);

-- Which shard holds a merchant: the same rows on every shard, so no foreign key.
CREATE TABLE shard_map (
  merchant_id bigint PRIMARY KEY,
  shard       text   NOT NULL
);

CREATE INDEX merchant_partner ON merchant (partner_id);
CREATE INDEX orders_merchant ON orders (merchant_id, id);
CREATE INDEX settlement_payment ON settlement (payment_id);
CREATE INDEX settlement_order ON settlement (order_id);

-- The replica identity is what an update or a delete tells about the old row,
-- and with it the parent. Each parent's index is made UNIQUE by adding the id,
-- so it serves joins and identity at once. orders and merchant are found by
-- their own id alone: the primary key will do.
CREATE UNIQUE INDEX payment_identity ON payment (order_id, id);
CREATE UNIQUE INDEX settlement_identity ON settlement (merchant_id, id);
CREATE UNIQUE INDEX settlement_line_identity ON settlement_line (settlement_id, id);
ALTER TABLE payment REPLICA IDENTITY USING INDEX payment_identity;
ALTER TABLE settlement REPLICA IDENTITY USING INDEX settlement_identity;
ALTER TABLE settlement_line REPLICA IDENTITY USING INDEX settlement_line_identity;

-- Ids are dealt out in turn over at most 64 shards, from one billion (the seed
-- stays below) to 2^53 - 1 (a few seeded settlements lie above).
-- +goose StatementBegin
DO $$
DECLARE
  shard int := nullif(current_setting('prejoin.shard', true), '');
  t     text;
BEGIN
  IF shard IS NULL OR shard NOT BETWEEN 0 AND 63 THEN
    RAISE EXCEPTION 'prejoin.shard is % and must be the shard''s index, 0 to 63', coalesce(shard::text, 'not set')
      USING HINT = 'connect with PGOPTIONS=''-c prejoin.shard=0'' (or 1, 2, ...)';
  END IF;
  FOREACH t IN ARRAY ARRAY['orders', 'payment', 'settlement', 'settlement_line'] LOOP
    EXECUTE format('CREATE SEQUENCE %I AS bigint INCREMENT BY 64 START WITH %s MINVALUE 1000000000 MAXVALUE 9007199254740991 OWNED BY %I.id',
                   t || '_id_seq', 1000000000 + shard, t);
    EXECUTE format('ALTER TABLE %I ALTER COLUMN id SET DEFAULT nextval(%L)', t, t || '_id_seq');
  END LOOP;
END
$$;
-- +goose StatementEnd

-- partner and shard_map never change while the system runs: not published.
ALTER PUBLICATION prejoin ADD TABLE merchant, orders, payment, settlement, settlement_line;

GRANT USAGE ON SCHEMA public TO prejoin_projector, prejoin_capture;
GRANT SELECT ON partner, merchant, orders, payment, settlement, settlement_line, shard_map
  TO prejoin_projector, prejoin_capture;
