// Package scan reads capture files that may come from anywhere.
//
// It validates a file before the Parquet library sees a byte of it, recovers the
// valid prefix of a killed or growing one, and hands out rows in the order of
// time with only the columns and row groups that were asked for. Memory is
// bounded by what overlaps in time, not by the file.
//
// It refuses to interpret rows: no join, no histogram, no printing.
//
// Start with Open, then File.Scan; Source is what analyses see of it.
package scan
