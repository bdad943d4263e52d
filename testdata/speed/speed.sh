#!/usr/bin/env bash
# speed.sh: measures every analysis on a synthetic capture beside DuckDB, prints the table
# and writes it to docs/speed.md. Needs Go and NETREC_PYTHON, an interpreter with DuckDB (see
# testdata/interop/requirements.txt); takes about ten minutes. Run it when nothing else does.
# Arguments are names of analyses: then it prints those only and writes nothing.
set -euo pipefail
cd "$(dirname "$0")/../.."
python=${NETREC_PYTHON:-python3}
"$python" -c 'import duckdb' || {
	echo "speed.sh: $python has no duckdb; set NETREC_PYTHON to an interpreter that has it" >&2
	exit 1
}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
go run ./internal/bench/synth/cmd/synth -o "$dir/synth.parquet"
out=(--out docs/speed.md)
[ $# -eq 0 ] || out=()
"$python" testdata/speed/speed.py "${out[@]}" ./netrec "$dir/synth.parquet" "$@"
