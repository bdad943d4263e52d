// Package scan reads capture files that may come from anywhere.
//
// It knows what makes Parquet a recording: frames and commits with their checksums, the facts that
// a file says about itself, the columns of the schema, events, and files that belong together. It
// recovers what is intact of a killed, growing or damaged recording, and hands out rows in the
// order of time with only the columns and row groups that were asked for. Memory
// is bounded by what overlaps in time, not by the file, and a scan ends with a
// Full when what is made of its rows takes more than the process may use.
//
// Like package parquetfile below it, which decodes footers and pages, it trusts no byte.
//
// It refuses to interpret rows (no join, no histogram), to print, and to change
// the file it reads.
//
// Start with Open, then File.Scan; Source is what analyses see of it.
package scan
