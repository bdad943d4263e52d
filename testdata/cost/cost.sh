#!/usr/bin/env bash
# cost.sh: measures what recording costs on this machine, beside perf record, prints the
# tables, writes them to docs/cost.md and their numbers to README, help and estimates. Needs root, Go and,
# for events that this machine has no hook for, what `make kernel` needs; takes about three quarters of an hour.
# Run it when nothing else does: the least of many batches forgives much, not all.
# Real servers are Debian's: nginx-light wrk nghttp2-client redis-server redis-tools iperf3, and tcpdump and linux-perf beside netrec;
# the table says which are missing. -table NAME measures one alone (-help lists them), -stats what each probe took there;
# go run ./internal/bench/rig/cmd/cost -renew FILE puts such output into docs/cost.md, README and help, without the rest.
# Arguments go to the program: -rounds 5; -only sock_io or -table every (print, write nothing).
set -euo pipefail
cd "$(dirname "$0")/../.."
out=$(mktemp)
trap 'rm -f "$out"' EXIT
go run ./internal/bench/rig/cmd/cost "$@" | tee "$out"
case " $* " in
*" -only"* | *" -table"*) ;;
*)
	mkdir -p docs && cp "$out" docs/cost.md && chmod 644 docs/cost.md
	go run ./internal/bench/rig/cmd/cost -publish
	;;
esac
