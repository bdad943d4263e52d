// Package analyze is the catalogue of analyses: one file for each, holding its
// declaration, its fold and its tables.
//
// An analysis registers itself in its own file and has a golden of the same name
// under testdata/analyze; help, lists, completion and tests follow from the
// declaration. Analyses that differ only in event, key or measure are
// declarations over the shapes in shapes.go.
//
// The package refuses to open files, to print and to exit.
//
// Start with All, then read any of the files.
package analyze
