#!/bin/bash
# Runs once, when a shard's data folder is made: the two roles of Prejoin with
# their passwords. The migration finds them there and grants what they need.
set -euo pipefail
psql -v ON_ERROR_STOP=1 -v projector="$PROJECTOR_PASSWORD" -v capture="$CAPTURE_PASSWORD" \
	--username "$POSTGRES_USER" --dbname "$POSTGRES_DB" <<'SQL'
CREATE ROLE prejoin_projector LOGIN PASSWORD :'projector';
CREATE ROLE prejoin_capture LOGIN REPLICATION PASSWORD :'capture';
SQL
