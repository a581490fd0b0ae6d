#!/usr/bin/env bash
# Proves that the linter's walls stand: lays out a module of empty rooms in a
# temporary folder, breaks each wall once, and fails unless depguard reports every
# break and nothing else. Run it after a change of .golangci.yml.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cp go.mod go.sum .golangci.yml "$tmp/"

ours() { echo "prejoin/pkg/$1"; }
mongo=go.mongodb.org/mongo-driver/mongo
bson=go.mongodb.org/mongo-driver/bson
pgx=github.com/jackc/pgx/v5
kafka=github.com/segmentio/kafka-go
kgo=github.com/twmb/franz-go/pkg/kgo
echo4=github.com/labstack/echo/v4
xlsx=github.com/tealeg/xlsx/v3
kong=github.com/alecthomas/kong
prom=github.com/prometheus/client_golang/prometheus
yaml=github.com/goccy/go-yaml

n=0
put() { # room import [suffix]: a package of its own below the room, so that no breaks form a cycle
	n=$((n + 1))
	last="$1/p$n/file${3:-}.go"
	mkdir -p "$tmp/$1/p$n"
	printf 'package room\n\nimport _ "%s"\n' "$2" >"$tmp/$last"
}
broken=()
breaks() { put "$@"; broken+=("$last"); }
holds() { put "$@"; }

for room in readmodel cdc route document query export export/xlsx postgres kafka mongodb projector upkeep capture refresh \
	httpapi access admin logging retry config devstack testenv sample bench; do
	mkdir -p "$tmp/pkg/$room"
	printf 'package room\n' >"$tmp/pkg/$room/room.go"
done

# L0 knows nobody, L1 only L0 and formats.
for room in readmodel cdc; do
	for up in route document query export; do breaks pkg/$room "$(ours $up)"; done
	for vendor in $bson $pgx $kafka $mongo; do breaks pkg/$room $vendor; done
done
for room in route document query export export/xlsx; do
	for up in postgres kafka mongodb projector httpapi devstack; do breaks pkg/$room "$(ours $up)"; done
	for vendor in $pgx $kafka $mongo $echo4 $prom; do breaks pkg/$room $vendor; done
	holds pkg/$room "$(ours readmodel)"
done
for room in document query export export/xlsx; do holds pkg/$room $bson; done
for room in document query export postgres httpapi; do breaks pkg/$room $xlsx; done
holds pkg/export/xlsx $xlsx
holds pkg/export/xlsx "$(ours export)"
holds pkg/readmodel $yaml
holds pkg/route "$(ours cdc)"

# L2: one vendor each, no neighbour, nobody above.
for room in postgres kafka mongodb; do
	for up in projector upkeep capture refresh httpapi access; do breaks pkg/$room "$(ours $up)"; done
	for peer in postgres kafka mongodb; do [ $room = $peer ] || breaks pkg/$room "$(ours $peer)"; done
	holds pkg/$room "$(ours readmodel)"
done
breaks pkg/postgres $mongo; breaks pkg/postgres $kafka; holds pkg/postgres $pgx
breaks pkg/kafka $mongo; breaks pkg/kafka $pgx; breaks pkg/kafka $kgo; holds pkg/kafka $kafka
breaks pkg/mongodb $pgx; breaks pkg/mongodb $kafka; holds pkg/mongodb $mongo

# L3: no vendor, and two houses.
for room in projector upkeep capture refresh; do
	for other in httpapi access query export; do breaks pkg/$room "$(ours $other)"; done
	for vendor in $pgx $kafka $mongo $echo4; do breaks pkg/$room $vendor; done
	for down in postgres mongodb cdc route document; do holds pkg/$room "$(ours $down)"; done
done
holds pkg/projector "$(ours kafka)"
for room in projector upkeep; do holds pkg/$room "$(ours refresh)"; breaks pkg/refresh "$(ours $room)"; done
breaks pkg/refresh "$(ours kafka)"
for room in httpapi access; do
	for other in projector upkeep capture refresh postgres kafka cdc route document; do breaks pkg/$room "$(ours $other)"; done
	for vendor in $pgx $kafka $mongo; do breaks pkg/$room $vendor; done
	for down in mongodb query export export/xlsx; do holds pkg/$room "$(ours $down)"; done
done
holds pkg/httpapi $echo4

# Support, the local stack, the command lines.
for room in admin logging retry config; do breaks pkg/$room "$(ours readmodel)"; breaks pkg/$room "$(ours mongodb)"; done
holds pkg/admin $prom
for room in projector httpapi mongodb postgres; do
	for local in devstack testenv sample bench; do breaks pkg/$room "$(ours $local)"; done
done
breaks pkg/httpapi $kong; holds pkg/config $kong; holds cmd/queryd $kong
for vendor in $pgx $kafka $mongo; do breaks cmd/queryd $vendor; breaks cmd/projector $vendor; holds cmd/devstack $vendor; done
breaks cmd/queryd "$(ours postgres)"; breaks cmd/projector "$(ours httpapi)"; holds cmd/devstack "$(ours sample)"

# Tests may use real servers and vendors' clients.
holds pkg/route "$(ours testenv)" _test
holds pkg/document $pgx _test

go -C tools build -o "$tmp/golangci-lint" github.com/golangci/golangci-lint/v2/cmd/golangci-lint
cd "$tmp"
./golangci-lint run --enable-only depguard --output.text.path stdout --output.text.print-issued-lines=false ./... >found.txt 2>errors.txt || true
sed -n 's/^\([^:]*\.go\):.*(depguard)$/\1/p' found.txt | sort -u >reported.txt
printf '%s\n' "${broken[@]}" | sort -u >expected.txt
if ! diff expected.txt reported.txt >difference.txt || [ ! -s reported.txt ]; then
	echo "check-walls: the walls of $root/.golangci.yml do not stand ('<' a break that was not reported, '>' a false alarm):"
	cat difference.txt errors.txt
	while read -r mark file; do if [[ $mark == [\<\>] ]]; then echo "$mark $file: $(grep import "$file")"; fi; done <difference.txt
	exit 1
fi
echo "check-walls: ${#broken[@]} breaks of a wall, all reported; $((n - ${#broken[@]})) allowed imports, none reported"
