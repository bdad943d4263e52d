// Package symbolize names frames of user stacks that had no name on the host, from debug
// files in folders that the user gives.
//
// The recorder writes such a frame as file, start of the build id and address,
// app(1a2b3c4d)+0x1234, and lists the whole ids. A debug file, or a program that was not
// stripped, is taken by its build id alone, never by its name. With debug information
// (DWARF), functions that the compiler inlined become frames of their own.
//
// A Source stands in front of a recording and replaces stacks as they are read, so
// that everything that shows a user stack shows the same. Without folders it only counts
// what a debug file would name.
//
// Debug files are untrusted: sizes, counts and work are bounded (see check.go for what
// debug/dwarf does not bound), and one that is refused costs names, not the answer.
// Nothing is fetched, and no folder is searched that was not given.
//
// Start with Open and New.
package symbolize
