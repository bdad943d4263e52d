// Package rig is what tests of the whole recorder stand on: a network namespace of
// its own (Namespace), traffic in it whose every call is logged (Load), and the
// recorder as a process that can be stopped and killed (Recorder).
//
// The log is the truth that a recording is held against: it has for each socket
// call of each thread the result and the time before and after it, on the clock of
// the events. Threads are pinned, so that the calls of one thread are in one ring,
// and nothing else talks in the namespace, so that counts are exact.
//
// It knows nothing of files and reads no recording; the tests do. Start with New.
package rig
