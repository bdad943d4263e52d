#!/bin/sh
# The unit is gone; recordings in /var/lib/netrec stay until the package is purged.
set -e
if [ "$1" = purge ]; then
	rm -rf /var/lib/private/netrec /var/lib/netrec
fi
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload || true
fi
