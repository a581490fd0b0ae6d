#!/usr/bin/env bash
# Makes sure that the programs named on the command line are there, and installs
# what is missing where it can: on Debian or Ubuntu, as root. Elsewhere it says
# in one sentence what to install. Known names:
#
#   go       Go 1.26 or newer (never installed: Debian's is too old)
#   race     a C compiler and its headers, which go test -race needs
#   curl     which some tests use as the client that is not ours
#   python   Python 3 with pip, whose openpyxl reads our workbooks in the tests
#
# The servers (PostgreSQL, mongod) are devstack's task.
set -euo pipefail

say() { echo "ensure: $*" >&2; }
die() { say "$*"; exit 1; }

updated=
install() { # what-for, packages...
	local why=$1; shift
	if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
		die "$why is missing; install it (on Debian: sudo apt-get install $*) and run this again."
	fi
	say "installing $* ($why)"
	if [ -z "$updated" ]; then
		apt-get update -qq >&2 || die "apt-get update failed; check the network and /etc/apt, then run this again."
		updated=1
	fi
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >&2 ||
		die "apt-get could not install $*; see its message above."
}

ensure_go() {
	command -v go >/dev/null || die "Go is missing; install Go 1.26 or newer from https://go.dev/dl and put it on PATH."
	local have major minor
	have=$(GOTOOLCHAIN=local go version | sed -n 's/^go version go\([0-9][0-9.]*\).*/\1/p')
	IFS=. read -r major minor _ <<<"$have"
	if [ "${major:-0}" -lt 1 ] || { [ "$major" = 1 ] && [ "${minor:-0}" -lt 26 ]; }; then
		die "Go ${have:-of an unknown version} is too old; install Go 1.26 or newer from https://go.dev/dl and put it on PATH."
	fi
}

ensure_race() {
	if ! echo '#include <stdlib.h>' | "${CC:-gcc}" -E - >/dev/null 2>&1; then
		install "a C compiler with its headers, for the race detector" gcc libc6-dev
	fi
}

ensure_curl() {
	command -v curl >/dev/null || install "curl, for the tests" curl
}

ensure_python() {
	local pip
	for pip in "python3 -m pip" pip3 pip; do
		if command -v python3 >/dev/null && $pip --version >/dev/null 2>&1; then return; fi
	done
	install "Python 3 with pip, for the tests" python3 python3-pip
}

for name in "$@"; do
	case $name in
	go | race | curl | python) "ensure_$name" ;;
	*) die "unknown name $name; use go, race, curl or python." ;;
	esac
done
