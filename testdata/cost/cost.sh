#!/usr/bin/env bash
# cost.sh: measures what recording costs on this machine, beside perf record, prints the
# tables and writes them to docs/cost.md. Needs root and Go; takes about six minutes.
# Run it when nothing else does: the least of many batches forgives much, not all.
# Arguments go to the program: -rounds 5, -only sock_io (prints, writes nothing).
set -euo pipefail
cd "$(dirname "$0")/../.."
out=$(mktemp)
trap 'rm -f "$out"' EXIT
go run ./record/rig/cmd/cost "$@" | tee "$out"
case " $* " in
*" -only"*) ;;
*) mkdir -p docs && cp "$out" docs/cost.md && chmod 644 docs/cost.md ;;
esac
