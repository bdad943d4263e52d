#!/usr/bin/env bash
# Builds what is released, for both processors, into a folder (dist): static binaries, deb and
# rpm packages, a bill of materials for each binary, and SHA256SUMS. The same commit gives the
# same bytes in any folder: times are the commit's, paths are trimmed.
#
# Needs Go, git and gzip. Exit code 3 means that the programs that make packages could not be had.
set -euo pipefail
cd "$(dirname "$0")/../.."
out=${1:-dist}
umask 022
export LC_ALL=C TZ=UTC CGO_ENABLED=0 GOAMD64=v1 GOARM64=v8.0
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export NETREC_MAINTAINER=${NETREC_MAINTAINER:-netrec}
# A version that deb and rpm can order; without a tag it is the day and the commit.
described=$(git describe --tags --dirty 2>/dev/null || true)
if [ -z "$described" ]; then
	described=0.0.$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y%m%d)-$(git describe --always --dirty)
fi
export VERSION=${VERSION:-$(echo "${described#v}" | tr - +)}

# tools puts the pinned programs into a folder outside the tree, once for each set of versions.
tools() {
	local sums
	sums=$(sha256sum cmd/packaging/tools/go.sum | cut -c1-12)
	bin=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/netrec/packaging-$sums
	[ -x "$bin/nfpm" ] && [ -x "$bin/cyclonedx-gomod" ] && return
	echo 'compiling nfpm and cyclonedx-gomod'
	(cd cmd/packaging/tools && go build -trimpath -buildvcs=false -o "$bin/" \
		github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod github.com/goreleaser/nfpm/v2/cmd/nfpm) || exit 3
}

binary() { # ARCH
	GOOS=linux GOARCH=$1 go build -trimpath -buildvcs=auto -ldflags "-s -w -buildid= -X main.version=$VERSION" -o "$out/netrec-linux-$1" ./cmd/netrec
}

# documents are made by the program itself, as far as this machine can run one.
documents() {
	local self=$out/netrec-linux-$(go env GOHOSTARCH)
	mkdir -p "$STAGE/man" "$STAGE/completion"
	"$self" man "$STAGE/man"
	gzip -9n "$STAGE"/man/*
	"$self" completion bash >"$STAGE/completion/netrec.bash"
	"$self" completion fish >"$STAGE/completion/netrec.fish"
	"$self" completion zsh >"$STAGE/completion/_netrec"
	find "$STAGE" -exec touch -d "@$SOURCE_DATE_EPOCH" {} +
}

# materials lists the modules that are in a binary.
materials() { # ARCH
	local now
	now=$(date -u -d "@$SOURCE_DATE_EPOCH" +%FT%TZ)
	"$bin/cyclonedx-gomod" bin -json -noserial -std -version "$VERSION" "$out/netrec-linux-$1" 2>/dev/null |
		sed "s/^    \"timestamp\": .*/    \"timestamp\": \"$now\",/" >"$out/netrec-linux-$1.cdx.json"
}

package() { # ARCH
	local kind
	for kind in deb rpm; do
		ARCH=$1 BINARY=$out/netrec-linux-$1 SBOM=$out/netrec-linux-$1.cdx.json \
			"$bin/nfpm" package --config cmd/packaging/nfpm.yaml --packager $kind --target "$out/" >/dev/null
	done
}

tools
rm -rf "$out"
mkdir -p "$out"
STAGE=$(mktemp -d)
export STAGE
trap 'rm -rf "$STAGE"' EXIT
for arch in amd64 arm64; do binary $arch; done
documents
for arch in amd64 arm64; do
	materials $arch
	package $arch
done
(cd "$out" && sha256sum -- * >SHA256SUMS && cat SHA256SUMS)
