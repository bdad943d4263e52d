// Package synth makes captures of any size without recording: the events of an
// imaginary busy host, of every type that the schema has, in the proportions and with
// the identities that analyses depend on.
//
// Connections open, carry data and close; packets are allocated, cloned, queued, sent,
// received, merged and freed; addresses are reused as the kernel's allocator does.
// The same seed gives the same rows. Events that no scene makes, such as new ones, get
// rows with plausible values, so that a capture always has every type.
//
// It is a tool for tests and benchmarks and no part of the shipped binary.
//
// Start with Write; cmd/synth is its command.
package synth
