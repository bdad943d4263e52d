#!/usr/bin/env bash
# Every fuzz target for a while, one after the other: `make fuzz T=10m`, a night with T=1h.
#
# What is found is kept by Go in the package's testdata/fuzz. Minimizing is off: it takes
# longer than the search. The last line of each target has its executions.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
export CGO_ENABLED=0
time=${1:-1m} failed=()
said=$(mktemp)
trap 'rm -f "$said"' EXIT

# Go's fuzzer may take the end of its own time for a failure, with these words and no input.
ended_by_time() { grep -q '^ *context deadline exceeded$' "$said" && ! grep -q 'Failing input written\|panic' "$said"; }

while IFS=: read -r file target; do
	package=./$(dirname "$file")
	printf '\n=== %s %s\n' "$package" "$target"
	go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" -fuzzminimizetime 1x "$package" 2>&1 | tee "$said" || ended_by_time || failed+=("$target")
done < <(git grep -o -E 'func Fuzz[A-Za-z]+' -- '*_test.go' | sed 's/func //')

[ ${#failed[@]} -eq 0 ] && exit
printf '\nfailed: %s\n' "${failed[*]}"
exit 1
