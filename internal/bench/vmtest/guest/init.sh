#!/bin/sh
# Process 1 of the guest's real root: gives the command the surroundings of a
# running system.
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin HOME=/root LANG=C.UTF-8 TERM=dumb
run=/run/vmtest

mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mkdir -p /dev/pts /dev/shm
mount -t devpts pts /dev/pts
mount -t tmpfs shm /dev/shm
mount -t tmpfs tmp /tmp
mount -t cgroup2 cgroup /sys/fs/cgroup
mount -t bpf bpf /sys/fs/bpf
mount -t debugfs debug /sys/kernel/debug
mount -t tracefs trace /sys/kernel/tracing
ln -sf /proc/self/fd /dev/fd
busybox hostname guest
ip link set lo up

if [ -e $run/headers ]; then
	mount -t 9p -o trans=virtio,version=9p2000.L,msize=262144,cache=loose,ro headers /usr/src
fi
. $run/last
