# What the tests need beside Go, and how Debian 12 provides it. Sourced by test.sh.

# tool:package. What looks like a name of a file is one.
tool_packages='
git:git make:make cc:gcc cc-headers:libc6-dev ldd:libc-bin ip:iproute2 iperf3:iperf3 musl:musl
clang:clang llvm-strip:llvm bpf-headers:libbpf-dev
qemu-system-x86_64:qemu-system-x86 sqfstar:squashfs-tools xz:xz-utils archive-keyring:debian-archive-keyring
python3-venv:python3-venv perl:perl flamegraph:libdevel-nytprof-perl java:openjdk-17-jre-headless
chromium:chromium
llvm-readelf:llvm jq:jq rpm:rpm systemd-analyze:systemd mandoc:mandoc lintian:lintian setpriv:util-linux
bash-completion:bash-completion dot:graphviz qemu-aarch64-static:qemu-user-static'

# has TOOL: is it on this machine? Administrators' folders may not be in PATH.
has() {
	case $1 in
	root) [ "$(id -u)" = 0 ] ;;
	cc-headers) [ -e /usr/include/stdlib.h ] ;;
	bpf-headers) [ -e /usr/include/bpf/bpf_helpers.h ] ;;
	musl) [ -e /lib/ld-musl-x86_64.so.1 ] ;;
	archive-keyring) [ -e /usr/share/keyrings/debian-archive-keyring.gpg ] ;;
	flamegraph) [ -e /usr/share/perl5/Devel/NYTProf/flamegraph.pl ] ;;
	bash-completion) [ -e /usr/share/bash-completion/bash_completion ] ;;
	python3-venv) python3 -c 'import venv, ensurepip' 2>/dev/null ;;
	python-readers) [ -n "${NETREC_PYTHON:-}" ] ;;
	*) PATH=$PATH:/usr/sbin:/sbin command -v "$1" >/dev/null ;;
	esac
}

# missing TOOL… prints those that are not there.
missing() {
	local tool out=()
	for tool in "$@"; do
		has "$tool" || out+=("$tool")
	done
	echo "${out[*]:-}"
}

# install_tools brings what is missing, where it may. What it cannot bring is said
# here, and the steps that need it say that they were left out.
install_tools() {
	local pair wanted=() names=()
	for pair in $tool_packages; do
		has "${pair%:*}" && continue
		names+=("${pair%:*}")
		wanted+=("${pair#*:}")
	done
	if [ ${#wanted[@]} -eq 0 ]; then
		echo 'nothing to install'
		return
	fi
	echo "missing: ${names[*]}"
	if ! has root || ! has apt-get; then
		echo "cannot install here (needs root and apt-get); by hand: apt-get install ${wanted[*]}"
		return
	fi
	export DEBIAN_FRONTEND=noninteractive
	apt-get update -qq && apt-get install -y -qq --no-install-recommends "${wanted[@]}" >/dev/null
}

clang_major() { clang -dumpversion | cut -d. -f1; }

# python_with_readers CACHE FOLDER sets NETREC_PYTHON to an interpreter that has the
# readers of the folder's lists, made once per lists and outside the tree. Spark comes as
# source only; an older DuckDB has a place of its own beside the current one.
python_with_readers() {
	if [ -n "${NETREC_PYTHON:-}" ]; then
		echo "NETREC_PYTHON=$NETREC_PYTHON as given"
		return
	fi
	local venv pip
	venv=$1/venv-$(cat "$2/requirements.txt" "$2/duckdb1.txt" | sha256sum | cut -c1-12)
	pip="$venv/bin/pip install --quiet --disable-pip-version-check --only-binary :all:"
	if [ ! -e "$venv/complete" ]; then
		rm -rf "$venv"
		mkdir -p "$1" && python3 -m venv "$venv" &&
			$pip --no-binary pyspark -r "$2/requirements.txt" &&
			$pip --no-deps --target "$venv/duckdb1" -r "$2/duckdb1.txt" &&
			touch "$venv/complete" || return
	fi
	export NETREC_PYTHON=$venv/bin/python
	"$venv/bin/pip" --disable-pip-version-check list | grep -E '^(duckdb|pandas|pyarrow|polars|chdb|pyspark) '
}
