// Package vmtest boots real Debian kernels in QEMU and runs commands in them.
//
// Start with [Run]: it takes a kernel name, a host folder and a command, and
// gives back the command's output and exit code. [Prepare] fetches a kernel
// and the guest's root image once and keeps them in a cache outside the tree.
//
// With [Config.System] systemd is process 1 and the command a unit of its own, on a Debian
// that packages can be installed on.
//
// The guest sees the host folder at /host (read and write), a writable Debian
// root that is forgotten afterwards, the kernel's module tree, and no network
// but its own loopback. What the command prints goes to a port that only one
// open file can hold: write to descriptors 1 and 2, do not reopen /dev/stdout.
// Emulation is in software: time inside the guest says
// nothing about cost.
//
// The package refuses to install anything on the host, to name an archive
// (addresses come from the machine's own apt configuration) and to judge what
// a command printed.
package vmtest
