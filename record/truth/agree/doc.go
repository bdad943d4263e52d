// Package agree holds netrec's answers against tools that others wrote: Debian's bpftrace
// and libbpf-tools watch the same traffic on the same kernel while netrec records it.
//
// Its test boots a kernel, starts everything, makes traffic whose ports are its own, and
// compares counts: equal ones agree, others are a failure unless the comparison names the
// reason. The table of the last run is docs/agreement.md.
//
//	go test ./record/truth/agree -kernels 6.1,6.12 -update
//
// It judges no duration: emulation is in software. Start with Comparisons.
package agree
