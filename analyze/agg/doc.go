// Package agg holds the folds that analyses share: histograms, statistics,
// bounded top lists, spans between two events, and the identities of sockets, packets
// and descriptors, whose addresses and numbers are reused.
//
// Everything in it is fed row by row in the order of time and keeps memory for
// what is alive, not for what has been seen. It refuses to render and to decide
// what to measure.
//
// Start with Sockets and Descriptors for identities, with Log2 and Stats for numbers.
package agg
