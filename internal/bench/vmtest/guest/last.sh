#!/bin/sh
# Runs the command and ends the guest with its exit code. The variable run is the folder
# with the host's orders.
if [ -e $run/share ]; then
	mount -t 9p -o trans=virtio,version=9p2000.L,msize=262144,cache=mmap host /host
	cd /host || exit
else
	cd /root || exit
fi

: >$run/started
# A virtio port, not a 9p file: every write is on the host when it returns, also
# when the guest dies next, at a tenth of the price.
sh $run/command </dev/null >/dev/vport0p1 2>&1
code=$?
cd /
umount -l /host 2>/dev/null
sync
echo $code >$run/exit
# Port 0xf4 is QEMU's isa-debug-exit; 0x2a leaves QEMU with status 0x55, which
# nothing else does.
printf '\052' | dd of=/dev/port bs=1 seek=244 conv=notrunc 2>/dev/null
# Not reached: process 1 ending is a panic, which the host takes for a crash.
