#!/bin/sh
# On removal, not on an upgrade: deb says "remove", rpm the number that is left.
set -e
case "$1" in
remove | 0)
	if [ -d /run/systemd/system ]; then
		systemctl disable --now netrec.service || true
	fi
	;;
esac
