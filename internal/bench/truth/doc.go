// Package truth holds recordings against what really happened: known traffic with
// odd counts, the log of every call it made, and the kernel's own counters.
//
// Its tests run the recorder as a user would, on this machine's kernel in
// namespaces of their own, and on real Debian kernels in QEMU:
//
//	go test ./internal/bench/truth                   # this machine's kernel
//	go test ./internal/bench/truth -kernels 6.12     # one kernel
//	go test ./internal/bench/truth -kernels all      # all of them
//
// What a kernel should have and does not is a failure, never a skip. Start with
// Check; Load reads a recording for it.
package truth
