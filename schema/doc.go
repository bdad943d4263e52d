// Package schema is the contract between the kernel, the capture file and the
// analyses.
//
// One Go struct per event is the ring record that the probe fills, the row that
// the file stores and the documentation of both: field order gives the binary
// layout, struct tags give column, unit and meaning. The C header in bpf/ and the
// column list of the file are derived from it, so a fact is written once.
//
// The package owns names, layouts, units, the event list with the ladder of
// hooks of each event, the metadata types and the frame layout of the file. It
// does no I/O, knows no BPF and calls no Parquet library.
//
// Start with Event and Events; then Column and Columns.
package schema
