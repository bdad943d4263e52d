#!/bin/sh
# First program in the guest: finds the root that the host prepared and goes
# there. Runs in the initramfs, where only busybox exists.
mount -t devtmpfs dev /dev
for ko in /early/*.ko; do
	insmod "$ko"
done
mount -t squashfs -o ro /dev/vda /ro
mount -t tmpfs -o size=60% rw /rw
mkdir /rw/upper /rw/work
mount -t overlay -o lowerdir=/ro,upperdir=/rw/upper,workdir=/rw/work root /root
opts=trans=virtio,version=9p2000.L,msize=262144
# Uncached: both sides see each other's files at once.
mount -t 9p -o $opts,cache=none run /root/run/vmtest
mount -t 9p -o $opts,cache=loose,ro modules /root/usr/lib/modules
exec switch_root /root /run/vmtest/init
