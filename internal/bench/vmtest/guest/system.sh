#!/bin/sh
# Makes systemd process 1 of the guest's real root. Its unit vmtest.service runs the command.
export PATH=/usr/sbin:/usr/bin
mkdir /mnt/vmtest
# Systemd mounts a /run of its own over this one.
busybox mount --move /run/vmtest /mnt/vmtest
echo 127.0.0.1 debian >>/etc/hosts # which is its name
exec /usr/lib/systemd/systemd
