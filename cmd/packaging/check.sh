#!/usr/bin/env bash
# Builds what is released twice, in two folders, compares every byte, and looks at the result
# with the programs that will handle it: dpkg, rpm, systemd, and the recorder itself with no
# more capabilities than the unit gives it. Exit code 3: the packagers could not be had.
set -euo pipefail
cd "$(dirname "$0")/../.."
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export PATH=$PATH:/usr/sbin:/sbin

fail() {
	echo "dist: $*" >&2
	exit 1
}

# copy puts the tree as it is into a folder: what git knows and what it does not ignore.
copy() {
	mkdir -p "$1"
	git ls-files -co --exclude-standard -z | xargs -0 cp -a --parents -t "$1"
	cp -a .git "$1"
}

twice() {
	copy "$scratch/a"
	copy "$scratch/in another/folder"
	"$scratch/a/cmd/packaging/dist.sh" "$scratch/one" || return
	(umask 077 && TZ=Asia/Tokyo LC_ALL=C.UTF-8 "$scratch/in another/folder/cmd/packaging/dist.sh" "$scratch/two" >/dev/null) || return
	diff -r "$scratch/one" "$scratch/two" || fail 'two builds of one tree differ'
	[ "$(find "$scratch/one" -type f | wc -l)" = 9 ] || fail "$(ls "$scratch/one")"
}

binaries() {
	local arch machine f
	for arch in amd64:X86-64 arm64:AArch64; do
		f=$scratch/one/netrec-linux-${arch%:*} machine=${arch#*:}
		llvm-readelf -h "$f" | grep "Machine:.*$machine" >/dev/null || fail "$f is not for $machine"
		if llvm-readelf -l "$f" | grep INTERP >/dev/null; then fail "$f is not static"; fi
		[ "$(jq -r '.components | length' "$f.cdx.json")" -gt 15 ] || fail "$f.cdx.json lists too few modules"
		# Every module that the binary names is in its bill of materials.
		go version -m "$f" | awk '$1 == "dep" { print $2 "@" $3 }' | sort >"$scratch/deps"
		jq -r '.components[] | select(.name != "std") | .name + "@" + .version' "$f.cdx.json" | sort >"$scratch/listed"
		diff "$scratch/deps" "$scratch/listed" || fail "$f.cdx.json is not what is in the binary"
	done
	if command -v qemu-aarch64-static >/dev/null; then
		qemu-aarch64-static "$scratch/one/netrec-linux-arm64" version -f json | jq -e '.arch == "arm64" and .probes.object == "netrec_arm64.o"' >/dev/null ||
			fail 'the binary for arm64 does not know itself'
	fi
}

# Tags of lintian that are meant: one static binary; CHANGELOG.md as it is; whoever releases sets the maintainer and
# Debian's own changelog; debhelper is not used, nor needed by the field that nfpm adds.
meant=statically-linked-binary,malformed-contact,no-changelog,debian-changelog-file-missing-or-wrong-name,wrong-name-for-upstream-changelog,maintainer-script-calls-systemctl,unknown-field

packages() {
	local deb rpm
	for deb in "$scratch"/one/*.deb; do
		dpkg-deb -x "$deb" "$scratch/root-$(basename "$deb")"
		if command -v lintian >/dev/null; then
			lintian --allow-root --fail-on error,warning --suppress-tags $meant "$deb" || fail "lintian: $deb"
		fi
	done
	root=$(echo "$scratch"/root-*_amd64.deb)
	cmp "$root/usr/bin/netrec" "$scratch/one/netrec-linux-amd64"
	# dpkg unpacks it into a root of its own, without running its scripts.
	mkdir -p "$scratch/dpkg/var/lib/dpkg/updates" "$scratch/dpkg/var/lib/dpkg/info"
	touch "$scratch/dpkg/var/lib/dpkg/status" "$scratch/dpkg/var/lib/dpkg/available"
	if [ "$(id -u)" = 0 ]; then
		dpkg --root="$scratch/dpkg" --force-script-chrootless --unpack "$scratch"/one/*_amd64.deb >/dev/null
		"$scratch/dpkg/usr/bin/netrec" version >/dev/null || fail 'the unpacked program does not run'
	fi
	for rpm in "$scratch"/one/*.rpm; do
		rpm -K --nosignature "$rpm" >/dev/null || fail "rpm: $rpm is damaged"
		(cd "$root" && find . -type f | sed 's/^\.//' | sed 's|vendor-completions|site-functions|' | grep -v /copyright$ | sort) >"$scratch/in-deb"
		rpm -qpl "$rpm" 2>/dev/null | grep -v '^/usr/share/licenses' | sort >"$scratch/in-rpm"
		diff "$scratch/in-deb" "$scratch/in-rpm" || fail "deb and rpm differ in what they install"
	done
	for f in "$root"/usr/share/man/man*/*; do mandoc -Tlint -Wwarning "$f" || fail "$f"; done
}

unit() {
	local service=$scratch/unit/netrec.service level
	mkdir -p "$scratch/unit"
	sed "s|/usr/bin/netrec|$root/usr/bin/netrec|; /^Documentation/d" "$root/usr/lib/systemd/system/netrec.service" >"$service"
	systemd-analyze verify "$service" || fail 'systemd-analyze verify'
	# 2.1 of 10, where 10 is a service without any bounds.
	level=$(systemd-analyze security --offline=true --threshold=25 "$service" | tail -1) || fail "$level"
	echo "unit: $level"
	grep -q '^CapabilityBoundingSet=CAP_BPF CAP_PERFMON$' "$service" || fail 'the unit has other capabilities than it says'
	# Its options are the program's.
	options=$(sed -n 's/^ExecStart=[^ ]* record \(.*\) \$NETREC_OPTIONS$/\1/p' "$service") added=$(sed -n 's/^Environment=NETREC_OPTIONS=//p' "$service")
	# shellcheck disable=SC2086
	"$root/usr/bin/netrec" record $options $added --help >/dev/null || fail "netrec record does not know: $options $added"
}

# The recorder as the unit runs it: another user, two capabilities, here in a namespace of its own.
capable() {
	[ "$(id -u)" = 0 ] || { echo 'left out: recording with two capabilities (lacks root)'; return; }
	local caps=-all,+bpf,+perfmon dir=$scratch/rec
	install -d -m 755 "$dir" && install -m 755 "$root/usr/bin/netrec" "$dir/netrec" && install -d -o 65534 -g 65534 "$dir/out"
	chmod 755 "$scratch"
	unshare --net sh -c "ip link set lo up
		setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=$caps --ambient-caps=$caps --bounding-set=$caps \
			'$dir/netrec' record --netns self -t 5m --ready-file '$dir/out/ready' -o '$dir/out/cap.parquet' 2>'$dir/said' & p=\$!
		while [ ! -e '$dir/out/ready' ] && kill -0 \$p; do sleep 0.1; done
		bash -c 'exec 3<>/dev/tcp/127.0.0.1/9' 2>/dev/null
		kill -TERM \$p; wait \$p" || { cat "$dir/said"; fail 'recording with two capabilities'; }
	grep -q 'without CAP_DAC_READ_SEARCH' "$dir/said" || fail "the recorder did not say what it lacks: $(cat "$dir/said")"
	"$dir/netrec" analyze "$dir/out/cap.parquet" tcplife -f csv 2>/dev/null | grep "127.0.0.1,9," >/dev/null || fail 'a connection was not recorded with two capabilities'
	echo 'recorded a connection with CAP_BPF and CAP_PERFMON alone'
}

twice
binaries
packages
unit
capable
