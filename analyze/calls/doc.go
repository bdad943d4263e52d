// Package calls has what analyses of calls on sockets share: attempts to connect and how they
// ended, the keys that a return value gives, and the sends and receives of a protocol, from
// whichever event the recording has.
//
// It owns no question and registers nothing.
//
// Start with Attempts and Count.
package calls
