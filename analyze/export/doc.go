// Package export hands a recording to other programs in a form of theirs: rows as Arrow,
// sockets over time as a Perfetto trace, stacks folded for flame graphs.
//
// Whatever the size of the recording, memory is bounded: rows pass by in the order of
// time and are written as they come. Bytes that came from outside go through render's
// encoder where the target has no escaping of its own.
//
// It answers no question; analyses do. Start with Arrow, Perfetto and Folded.
package export
