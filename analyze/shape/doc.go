// Package shape has the folds, with their tables, that several analyses are made of: maps of
// counts, histograms and statistics by a key, as bpftrace shows them; places that the
// recorder counts itself; sums of interrupts.
//
// It owns no question and registers nothing. What is about lines, one for each event, is in
// package line.
//
// Start with Count and Hist.
package shape
