#!/usr/bin/env bash
# Runs the linter of .golangci.yml, compiled once into a folder outside the tree.
# With arguments it runs with these. Exit code 3 means that the linter could not be had.
set -euo pipefail
cd "$(dirname "$0")/../.."
version=v2.14.0
bin=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/netrec/golangci-lint-$version
if [ ! -x "$bin/golangci-lint" ]; then
	echo "compiling golangci-lint $version"
	GOBIN=$bin CGO_ENABLED=0 timeout 10m go install "github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$version" || exit 3
fi
[ $# -gt 0 ] || set -- run ./...
exec "$bin/golangci-lint" "$@"
