#!/usr/bin/env bash
# soak.sh [TIME]: records for TIME (1h) under load in a network namespace of its own and prints what
# the recorder held meanwhile. It fails where memory or descriptors grow from the second third
# to the last, or rows do not add up with the counters of the probes. Needs root and Go.
set -euo pipefail
cd "$(dirname "$0")/../.."
exec go test ./record/killtest -count=1 -timeout=25h -v -run='^TestSoak$' -soak="${1:-1h}"
