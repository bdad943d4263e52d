#!/usr/bin/env bash
# Everything that must hold, in one command: `make test`, which is also what CI runs.
#
# Needs Go and a Debian-like Linux. As root it installs the rest; otherwise it says
# what is missing and which steps that costs. Nothing is written into the tree but
# the binary. Every step runs even if one before it failed. On a terminal all that steps say is
# shown as it comes; in a log, what failed is, and for the rest that it did not.
#
# Exit code: 0 all passed; 1 something failed; 3 nothing failed, but steps could not run.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
export CGO_ENABLED=0
export GOFLAGS="${GOFLAGS:-} -trimpath" # as the binary is built: what one step compiled is there for all
. testdata/ci/tools.sh

cache=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/netrec
scratch=$(mktemp -d)
begun_guests= compiling=
trap 'end $begun_guests $compiling; rm -rf "$scratch"' EXIT
begun=$SECONDS
failed=() left_out=() times=()

# step NAME FUNCTION [TOOL…] runs a function if the tools are there. A function returns
# 3 if it cannot run.
step() {
	local name=$1 run=$2 start=$SECONDS lacks result=ok
	shift 2
	printf '\n=== %s\n' "$name"
	lacks=$(missing "$@")
	if [ -n "$lacks" ]; then
		printf 'left out, this machine lacks: %s\n' "$lacks"
		left_out+=("$name (lacks $lacks)")
		result='LEFT OUT'
	else
		local code=0
		if [ -t 1 ]; then
			"$run" || code=$?
		else
			"$run" >"$scratch/said" 2>&1 || code=$?
			[ $code -eq 0 ] || cat "$scratch/said"
		fi
		case $code in
		0) printf 'ok, %d s\n' $((SECONDS - start)) ;;
		3)
			left_out+=("$name (could not be installed)")
			result='LEFT OUT'
			;;
		*)
			failed+=("$name")
			result=FAILED
			;;
		esac
	fi
	times+=("$(printf '%5d s  %-9s %s' $((SECONDS - start)) "$result" "$name")")
}

# begin FUNCTION runs it beside the steps, as a process group of its own, so that it can be ended with all
# that it started: $! is both.
begin() {
	set -m
	"$1" </dev/null >"$scratch/$1" 2>&1 &
	set +m
}

# end [GROUP…]
end() {
	local group
	for group; do kill -- "-$group" 2>/dev/null; done
}

# What the steps compile takes both CPUs for minutes. It is done while tools are fetched and the kill test waits,
# with what these leave of the CPUs. What is compiled stays so when this is ended.
compile_ahead() {
	chrt -i -p 0 "$BASHPID" || renice -n 19 -p "$BASHPID"
	vet
	elsewhere
	testdata/ci/lint.sh version
}

tools() {
	go version || return
	install_tools || return
	python_with_readers "$cache" testdata/interop
}

format() {
	local wrong
	wrong=$(gofmt -l .) && [ -z "$wrong" ] && return
	printf 'not formatted by gofmt:\n%s\n' "$wrong"
	return 1
}

vet() { go vet ./...; }

static_binary() {
	make --no-print-directory build && ./netrec version || return
	if ldd netrec >"$scratch/ldd" 2>&1; then
		echo 'netrec needs shared libraries:'
		cat "$scratch/ldd"
		return 1
	fi
	ls -l netrec | awk '{ print "netrec: static,", $5, "bytes" }'
}

# The clang that built the committed objects. Another one may choose other instructions,
# so then only the sources are compared and that they compile.
object_clang=14

generated() {
	local files=(bpf/events.gen.h bpf/netrec.gen.c bpf/netrec_x86.o bpf/netrec_arm64.o) f code=0
	cp "${files[@]}" "$scratch" && go generate ./bpf || return
	for f in "${files[@]}"; do
		cmp -s "$f" "$scratch/${f#bpf/}" && continue
		if [[ $f == *.o ]] && [ "$(clang_major)" != $object_clang ]; then
			echo "$f: compiled by clang $(clang_major), not compared with the committed one of clang $object_clang"
		else
			echo "$f: is not what go generate ./bpf makes of the sources"
			code=1
		fi
		cp "$scratch/${f#bpf/}" "$f"
	done
	return $code
}

# Steps of their own below: captures in other readers, kills, kernels.
go_test() {
	local packages
	# The recorder's take longest: begun last they would run alone.
	packages="netrec/record $(go list ./... | grep -v -e /internal/bench/killtest -e '^netrec/record$')" || return
	has root || left_out+=('tests that record, in go test (lacks root)')
	local tool # without one of these a test only says that it left something out
	for tool in bash-completion dot flamegraph mandoc; do
		has "$tool" || left_out+=("what $tool would check, in go test (lacks $tool)")
	done
	if [ -n "$(missing qemu-system-x86_64 sqfstar xz)" ]; then
		left_out+=("test that boots a kernel, in go test (lacks $(missing qemu-system-x86_64 sqfstar xz))")
		local -x NETREC_KERNELS=none
	fi
	# shellcheck disable=SC2086
	go test -count=1 -vet=off -timeout 40m -skip '^Test(Readers|Answers|Exports)Agree$|^TestSnippets$|^TestKernels$|^TestBrowser' $packages
}

# From their seeds on, half a minute together; make fuzz T=1h is for a night.
fuzz() { testdata/ci/fuzz.sh 4s; }

elsewhere() {
	local target
	for target in darwin/arm64 linux/arm64; do
		GOOS=${target%/*} GOARCH=${target#*/} go build ./analyze/... ./schema/... && echo "$target: analyze and schema build" || return
	done
	GOOS=linux GOARCH=arm64 go vet ./bpf ./record ./record/hook ./cmd/netrec && echo 'linux/arm64: vet finds nothing'
}

lint() {
	wait "$compiling" # the linter is the last of it; whether it could be had, the next line says
	testdata/ci/lint.sh
}

dist() { cmd/packaging/check.sh; }

interop() { go test -count=1 -v -timeout 60m -run '^Test(Readers|Answers|Exports)Agree$|^TestSnippets$' ./cmd/netrec; }

browser() { go test -count=1 -v -timeout 30m -run '^TestBrowser' ./analyze/report; }

kill_test() { go test -count=1 -v -timeout 40m ./internal/bench/killtest; }

# The newest and, below, the oldest and one between: all five, make kernels, take longer than CI has.
kernel() { go test -count=1 -v -timeout 150m -run "^TestKernels\$/^$1\$" ./internal/bench/truth -kernels some; }
newest() { kernel newest; }

# Tools of bcc compile for a minute each: by hand, with -update, and 6.1, see CONTRIBUTING.md.
agreement() { go test -count=1 -v -timeout 150m -run '^TestAgreement$' ./internal/bench/truth/agree -kernels 6.12 -bcc none; }

# A guest keeps one CPU busy for ten minutes. The other CPU is for steps that nothing times: these guests begin
# before them, one after the other, and are waited for after them.
guests() {
	local code=0
	agreement || code=1
	kernel 5.10 || code=1
	return $code
}

begin_guests() {
	[ -z "$(missing "${guest_tools[@]}")" ] || return
	begin guests
	begun_guests=$!
}

end_guests() {
	local code=0
	wait "$begun_guests" || code=$?
	cat "$scratch/guests"
	return $code
}

guest_tools=(go root qemu-system-x86_64 sqfstar xz)

begin compile_ahead
compiling=$!
step 'tools' tools go
step 'gofmt' format gofmt
step 'go vet' vet go
step 'static binary' static_binary go make ldd
step 'generated files are current' generated go clang llvm-strip bpf-headers
end "$compiling" # some tests ask for more on a machine that nobody else uses
step 'go test' go_test go cc ip
begin compile_ahead
compiling=$!
step 'kill -9 and full disk, short' kill_test go root python-readers
begin_guests
step 'fuzz targets, 4 s each' fuzz go git
step 'analyze builds for other systems' elsewhere go
step 'packages, built twice' dist go git llvm-readelf jq dpkg-deb rpm lintian systemd-analyze mandoc setpriv unshare qemu-aarch64-static
step 'captures in DuckDB, pandas, polars, ClickHouse and Spark' interop go python-readers java
step 'report in a browser' browser go chromium
step 'lint' lint go
step 'kernel: newest' newest "${guest_tools[@]}"
step 'agreement with bpftrace and libbpf-tools on a kernel between; kernel: oldest' end_guests "${guest_tools[@]}"

printf '\n=== summary\n'
printf '%s\n' "${times[@]}"
for s in "${left_out[@]}"; do echo "left out: $s"; done
for s in "${failed[@]}"; do echo "failed: $s"; done
printf 'netrec: %d steps in %d s: %d failed, %d left out\n' ${#times[@]} $((SECONDS - begun)) ${#failed[@]} ${#left_out[@]}
[ ${#failed[@]} -eq 0 ] || exit 1
[ ${#left_out[@]} -eq 0 ] || exit 3
