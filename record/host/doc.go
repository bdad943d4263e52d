// Package host reads the facts that explain a recording: the machine, its
// clocks, sysctls, devices, queueing disciplines and protocol counters, and the
// sockets that were alive before the first event, with the processes that own
// them.
//
// It owns the walk over network namespaces. With a filter only that namespace is
// read, without one every namespace that a process or a bind mount shows; each is
// entered on an OS thread that is thrown away afterwards, so that no other
// goroutine ever runs in a foreign namespace.
//
// It refuses to interpret, to change anything on the host, and to grow with it:
// namespaces, sockets, devices, owners and open files looked at are all bounded,
// and what a bound cut off is said in a warning.
//
// Start with Facts; NetnsInode turns what a user typed into a filter.
package host
