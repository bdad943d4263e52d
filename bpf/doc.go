// Package bpf holds the probes: one C file per event, the headers they share, and
// the compiled objects, one for each processor, which are committed and embedded so that
// users need no compiler.
//
// Probes state facts: they read fields, copy them into a ring record and count
// what they could not deliver. What a fact means is decided offline. The layouts
// of the records come from package schema through bpf/gen.
//
// It has no policy: which programs to load and where to attach them is record's.
//
// Start with netrec.h, then any *.bpf.c; Spec is all that Go sees.
package bpf
