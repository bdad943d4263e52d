// Package findings names what looks wrong in a recording: one rule a file, each with a
// threshold that the user may change.
//
// A rule is a fold over the rows of a few events. It judges at the end and says of each
// finding what it is, what the evidence is, and which command shows more. It owns no
// tables and prints nothing: the analyses and the report show what Set.Judge returns.
//
// Start with Rules, then read any rule.
package findings
