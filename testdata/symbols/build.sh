#!/usr/bin/env bash
# build.sh FOLDER [FLAG…] compiles client.c there: client.full, client without symbols, and
# client.debug with what was taken from it. CC chooses the compiler. client.debug in this
# folder was made by it, with gcc 12.
set -euo pipefail
from=$(cd "$(dirname "$0")" && pwd)
cd "$1"
shift
"${CC:-cc}" -O2 -g -fno-omit-frame-pointer -fno-optimize-sibling-calls -ffile-prefix-map="$from"=. -ffile-prefix-map="$PWD"=. \
	-Wl,--build-id=sha1 "$@" -o client.full "$from/client.c"
objcopy --only-keep-debug client.full client.debug
strip -o client client.full
