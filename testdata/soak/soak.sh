#!/usr/bin/env bash
# soak.sh [TIME]: records for TIME (1h) under load in a network namespace of its own and prints what
# the recorder held meanwhile: memory and its slope, descriptors, row groups, and rows beside the counters
# of the probes and of the kernel. It fails where memory or descriptors grow from the second third
# to the last, or rows do not add up with the counters. Needs root and Go.
set -euo pipefail
cd "$(dirname "$0")/../.."
exec go test ./internal/bench/killtest -count=1 -timeout=25h -v -run='^TestSoak$' -soak="${1:-1h}"
