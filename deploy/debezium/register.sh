#!/bin/sh
# Gives Kafka Connect its two connectors and waits until both stream: from then
# on their slots hold the changes that the backfill's snapshot may not show.
set -eu
for shard in shard0 shard1; do
	curl -sS --fail-with-body -X PUT -H 'Content-Type: application/json' \
		--data "@/connectors/$shard.json" "$CONNECT_URL/connectors/$shard/config" >/dev/null
done
for shard in shard0 shard1; do
	tries=0
	until curl -sS "$CONNECT_URL/connectors/$shard/status" | grep -q '"tasks":\[{"id":0,"state":"RUNNING"'; do
		tries=$((tries + 1))
		if [ "$tries" -gt 120 ]; then
			echo "the connector of $shard does not run:" >&2
			curl -sS "$CONNECT_URL/connectors/$shard/status" >&2
			exit 1
		fi
		sleep 1
	done
	echo "the connector of $shard runs"
done
