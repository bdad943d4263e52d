// Package render turns typed tables into text, CSV, JSON, NDJSON and Arrow IPC.
//
// An analysis declares each column once, as a Field: its name, its look and how it is
// taken from a row. Nothing is kept, so a table may have any number of rows.
// The Look of a table says how text shows it: fixed-width columns, vertical
// records, CSV, or the map forms of bpftrace and BCC (histogram, count, stats).
// Other formats carry the same rows, with the columns that are for programs.
//
// The package owns the one encoder of untrusted bytes (process names, host names,
// stacks). It refuses to compute: ordering, sums and buckets come from outside.
//
// Start with Output, then Answer and ListOf.
package render
