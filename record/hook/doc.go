// Package hook decides which probes see which event on this kernel, loads them
// and attaches them.
//
// For each event the ladder of package schema is climbed from the top: a rung is
// refused when the kernel lacks a tracepoint, function or argument it needs, or
// when loading or attaching it is denied; every refusal is kept with its reason,
// because it goes into the file. Nothing is decided by version number.
//
// It does not read rings and knows no file.
//
// Start with Load; Set.Plans says what was chosen.
package hook
