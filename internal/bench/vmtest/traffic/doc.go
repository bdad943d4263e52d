// Package traffic makes network traffic of every kind with known counts and
// writes down each call it made, so that a recording of it can be checked row
// by row.
//
// Start with [Run]; [Read] gives a test the [Log] that a run wrote. One thread
// makes all sockets and calls, in an order that the options fix, so two runs
// with the same options differ only in ports, times and what the network lost.
// The exceptions are the name server and the lookup programs of the dns kind,
// which the log names as such.
//
// The package refuses the net package and its hidden sockets: every system call
// on a socket is made here, by number, and is in the log with its result. What
// the kernel counted meanwhile (/proc/net/snmp, snmp6, netstat) is there too.
package traffic
