// Package agree holds netrec's answers against tools that others wrote: Debian's bpftrace,
// libbpf-tools and bcc watch the same traffic on the same kernel while netrec records it.
//
// Its test boots a kernel, starts everything, waits until all have attached, makes
// known traffic, and compares counts by key: equal ones agree, others are a failure unless
// the comparison names the reason. docs/agreement.md is the table of all verdicts, and a run
// that comes to another one fails.
//
//	go test ./internal/bench/truth/agree -kernels 6.1,6.12 -update
//
// It judges no duration: each tool takes the time at a moment of its own, and emulation is
// in software. Interrupts are compared only where nothing but the traffic causes them:
// others come at any moment, and no two tools begin and end at the same one. Start with Tools,
// OneLiners and Bcc.
package agree
