// Package capture writes the capture file: Parquet that grows by commits, each of
// which is one write(2) after which the file is whole.
//
// It owns the file: creation, frames, checkpoints, when a full footer is due, what
// happens when the disk is full, syncing and closing. Layout and limits are those
// of schema.Frame; the bytes of row groups and footers come from record/encode.
//
// It refuses to know events, and never retries: a commit that could not be written
// is undone and reported as a LostError, and the next one starts where it started.
//
// Start with Create and Writer.
package capture
