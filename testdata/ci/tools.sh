# What the tests need beside Go, and how Debian 12 provides it. Sourced by test.sh.

# tool:package. What looks like a name of a file is one.
tool_packages='
git:git make:make cc:gcc cc-headers:libc6-dev ldd:libc-bin ip:iproute2 iperf3:iperf3 musl:musl
clang:clang llvm-strip:llvm bpf-headers:libbpf-dev
qemu-system-x86_64:qemu-system-x86 sqfstar:squashfs-tools xz:xz-utils archive-keyring:debian-archive-keyring
python3-venv:python3-venv
llvm-readelf:llvm jq:jq rpm:rpm systemd-analyze:systemd mandoc:mandoc lintian:lintian setpriv:util-linux
bash-completion:bash-completion qemu-aarch64-static:qemu-user-static'

# has TOOL: is it on this machine? Administrators' folders may not be in PATH.
has() {
	case $1 in
	root) [ "$(id -u)" = 0 ] ;;
	cc-headers) [ -e /usr/include/stdlib.h ] ;;
	bpf-headers) [ -e /usr/include/bpf/bpf_helpers.h ] ;;
	musl) [ -e /lib/ld-musl-x86_64.so.1 ] ;;
	archive-keyring) [ -e /usr/share/keyrings/debian-archive-keyring.gpg ] ;;
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

# python_with_readers CACHE REQUIREMENTS sets NETREC_PYTHON to an interpreter that has
# the readers, in a folder outside the tree that is made once per list of versions.
python_with_readers() {
	if [ -n "${NETREC_PYTHON:-}" ]; then
		echo "NETREC_PYTHON=$NETREC_PYTHON as given"
		return
	fi
	local venv
	venv=$1/venv-$(sha256sum "$2" | cut -c1-12)
	if [ ! -e "$venv/complete" ]; then
		rm -rf "$venv"
		mkdir -p "$1" && python3 -m venv "$venv" &&
			"$venv/bin/pip" install --quiet --disable-pip-version-check --only-binary :all: -r "$2" &&
			touch "$venv/complete" || return
	fi
	export NETREC_PYTHON=$venv/bin/python
	"$NETREC_PYTHON" -c 'import duckdb, pandas, pyarrow as p; print("DuckDB", duckdb.__version__, "pandas", pandas.__version__, "pyarrow", p.__version__)'
}
