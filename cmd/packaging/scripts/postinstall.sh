#!/bin/sh
# Recording is the administrator's to start: systemctl enable --now netrec
set -e
# The recorder's own user; where this cannot make one, the recorder becomes nobody.
if command -v systemd-sysusers >/dev/null; then
	systemd-sysusers netrec.conf || true
fi
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload || true
	# After an upgrade: a recorder that runs goes on as the new one.
	systemctl try-restart netrec.service || true
fi
