#!/usr/bin/env bash
# kill.sh [N [DISKS]]: kills N recorders (200) under load at random times, fills DISKS
# disks (5), and checks every row of what is left against the load's own log. Needs
# root and Go. NETREC_PYTHON: a Python with pyarrow and duckdb, for the check that
# stock readers open the files as they lie.
set -euo pipefail
cd "$(dirname "$0")/../.."
exec go test ./internal/bench/killtest -count=1 -timeout=3h -v -lose=1s -kills="${1:-200}" -fulls="${2:-5}"
