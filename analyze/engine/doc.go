// Package engine runs analyses over a recording: all that one call asks for in
// one pass.
//
// An Analysis declares its question, its options and a constructor; the
// constructor asks Input for columns and registers handlers for events, so the
// engine knows what to read. Before every answer the engine says what limits it:
// losses, hooks that were missing, sockets older than the recording. An analysis
// whose events are not in the file gets a reason instead of an empty table.
//
// The engine owns selection (time, process, port, address, socket), the identity
// of sockets, and the command-line grammar of options. It opens no file, prints
// nothing itself and knows no particular analysis.
//
// Start with Analysis and Run.
package engine
