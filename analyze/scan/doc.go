// Package scan reads capture files that may come from anywhere.
//
// It trusts no byte: an own bounded Thrift walker checks footers, checkpoints and
// page headers against the file and against limits, and own decoders turn pages
// into columns, so no Parquet library ever sees the input. It recovers what is
// intact of a killed, growing or damaged recording, and hands out rows in the
// order of time with only the columns and row groups that were asked for. Memory
// is bounded by what overlaps in time, not by the file, and a scan ends with a
// Full when what is made of its rows takes more than the process may use.
//
// Thrift and pages are decoded by hand, because neither Go library is safe on hostile bytes:
// of footers with one to three changed bytes 5.1 % crash parquet-go 0.32, and a file of 12
// bytes makes it allocate 4 GiB.
//
// It refuses to interpret rows (no join, no histogram), to print, and to change
// the file it reads.
//
// Start with Open, then File.Scan; Source is what analyses see of it.
package scan
