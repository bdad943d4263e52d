// Package turns says where the time of a TCP connection went, from one end of it, and cuts the
// connection into turns: a run of bytes one way and the run the other way that answers it.
//
// Conn is one connection. It takes what happened to its socket in the order of time, and puts
// every nanosecond between two of these moments into exactly one Wait. It owns the rules of
// what is waited for; it refuses files and tables. Follow feeds it from a recording.
//
// The end that connected asks, the other one answers. What is known to be acknowledged or read
// decides; only how long a segment was on its way, where the peer may delay its
// acknowledgement, is an estimate by the least round trip, and counted as such.
package turns
