// Package analyze is the catalogue of analyses: one file for each, holding its
// declaration, its fold and its tables. What does not fit into 300 lines stands beside it
// as NAME_part.go. No analysis uses names of another.
//
// An analysis registers itself in its own file and has a golden of the same name
// under testdata/analyze; help, lists, completion and tests follow from the
// declaration. Analyses that differ only in event, key or measure are
// declarations over what several share: shape (maps and histograms), line (one line for
// each event), calls (calls on sockets) and packets.
//
// The package refuses to open files, to print and to exit.
//
// Start with All, then read any of the files.
package analyze
