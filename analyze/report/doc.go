// Package report makes one HTML page of a recording: what looks wrong, when what
// happened, which sockets were busiest and worst, how long things took, what was dropped.
//
// The page is a single file that asks no network for anything: style, script and data
// are in it, and its Content-Security-Policy allows nothing else. What comes from the
// recording is text: escaped by html/template in the page, by encoding/json in the data,
// and never made markup by the script.
//
// One pass reads the recording. Latencies are those of the analyses that have them,
// tapped; all else is folded here. Memory and page are bounded whatever the recording
// holds: the busiest and worst sockets, series of fixed length that keep extremes.
//
// Start with Write.
package report
