// Package reader reads files of other users' processes, in a process of its own.
//
// Whoever runs a program on the host decides what its libraries say and which file system
// they are on: one may be made to exhaust memory, the other may never answer. So the recorder
// opens none of them. It asks a child, which can see all processes but write, start and
// connect to nothing, and waits for an answer for as long as Patience.
//
// It owns the questions and that process. It refuses to attach anything, and to know what
// the answers are for.
//
// Start with Start; main calls Init first of all.
package reader
