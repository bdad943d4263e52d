// Package fence puts work that may hang, die or be turned against its host into a process of
// its own, and keeps that process from everything but its work.
//
// It owns two things: a child of this program that answers questions, each on its own and
// for a limited time (Start, Process.Ask, Serve), and the system calls that a process gives
// up for good (Deny, Allow).
//
// It refuses to know what is asked, and drops no privileges: package priv does.
//
// Start with Start on one side and Serve on the other.
package fence
