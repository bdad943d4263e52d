// Package line has what analyses with one line for each session, socket or call share: columns
// of a socket's ends and identity, the options that the BCC tools have in common (address
// family, ports, users, time stamps), and queues that hold lines back until what they show
// is known.
//
// It owns no question and registers nothing. Maps and histograms are in package shape.
//
// Start with Ends and Waiting.
package line
