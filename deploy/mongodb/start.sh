#!/bin/bash
# Starts mongod as a one-node replica set that asks for passwords. Members of a
# replica set share a key, and mongod wants it in a file that only it can read.
set -euo pipefail
umask 077
printf '%s\n' "$MONGODB_KEY" >/data/configdb/key
chown mongodb /data/configdb/key
exec docker-entrypoint.sh mongod --replSet rs0 --keyFile /data/configdb/key --bind_ip_all
