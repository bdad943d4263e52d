// Package packets has what analyses of packets share: when the packet at an address must have
// ended unseen, its source and destination, where it ended, and rows without a stack.
//
// It owns no question and registers nothing.
//
// Start with Follow.
package packets
