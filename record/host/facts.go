package host

import (
	"context"
	"fmt"

	"netrec/schema"
)

// Limits of one reading. A host beyond them is recorded with a warning.
const (
	MaxNamespaces = 256
	MaxSockets    = 200_000
	MaxInterfaces = 16_384
	MaxQdiscs     = 65_536
)

// Report is what was found, in the types of the file's metadata.
type Report struct {
	Host       schema.Host
	Sysctls    map[string]string
	Interfaces []schema.Interface
	Qdiscs     []schema.Qdisc
	Sockets    []schema.Socket
	Counters   *Counters // to be read at start and stop, then closed
	Alive      *Alive    // asks for the sockets again, then closed

	// Warnings say what is missing, one sentence each: a namespace that could
	// not be entered, a limit that was reached.
	Warnings []string

	left left
}

// left counts what a limit or a lack has kept out, over all namespaces.
type left struct {
	sockets, interfaces, qdiscs, counters int
}

// warn makes one sentence of each count that is not zero.
func (l *left) warn(r *Report) {
	for _, c := range []struct {
		n    int
		text string
	}{
		{l.sockets, fmt.Sprintf("sockets beyond the first %d were not read", MaxSockets)},
		{l.interfaces, fmt.Sprintf("interfaces beyond the first %d were not read", MaxInterfaces)},
		{l.qdiscs, fmt.Sprintf("queueing disciplines beyond the first %d were not read", MaxQdiscs)},
		{l.counters, "network namespaces have no process, their protocol counters are left out"},
	} {
		if c.n > 0 {
			r.warn("%d %s", c.n, c.text)
		}
	}
}

func (r *Report) warn(format string, args ...any) {
	r.Warnings = append(r.Warnings, fmt.Sprintf(format, args...))
}

// Facts reads the host. netns are the inodes of the namespaces to look at, none
// for all. Only a namespace that was asked for and is not there, and the end of
// ctx, are errors; whatever else cannot be read becomes a warning. Who owns the sockets
// takes another step, Own.
func Facts(ctx context.Context, netns []uint32) (*Report, error) {
	r := &Report{Host: machine(), Counters: &Counters{}, Alive: &Alive{}, Sysctls: map[string]string{}}
	list, err := r.find(ctx, netns)
	if err != nil {
		return nil, err
	}
	readSysctls(r.Sysctls)
	for i := range list {
		ns := &list[i]
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("read host facts: %w", err)
		}
		if len(netns) > 0 && ns.inode == netns[0] {
			ns.sysctls = true
		}
		if err := ns.do(func() { r.namespace(ns, len(netns) > 0) }); err != nil {
			r.warn("network namespace %d (%s): %v", ns.inode, ns.path, err)
		}
	}
	r.left.warn(r)
	return r, nil
}

// find lists the namespaces and says so when there were too many.
func (r *Report) find(ctx context.Context, netns []uint32) ([]namespace, error) {
	list, more, err := findNamespaces(ctx, netns)
	if err != nil {
		return nil, err
	}
	if more > 0 {
		r.warn("%d network namespaces beyond the first %d were not read", more, MaxNamespaces)
	}
	return list, nil
}

// namespace reads the namespace that the calling thread is in. Sysctls are those
// of the recorded namespace, the first that was named; those that only the first namespace of the host has
// stay as they were read before.
func (r *Report) namespace(ns *namespace, recorded bool) {
	if ns.sysctls {
		readSysctls(r.Sysctls)
	}
	r.devices(ns.inode)
	r.sockets(ns.inode, nil)
	if recorded || ns.own {
		r.Alive.hold(ns.inode)
	}
	switch {
	case recorded || ns.own:
		if err := r.Counters.hold(ns.inode); err != nil {
			r.warn("protocol counters of network namespace %d: %v", ns.inode, err)
		}
	case ns.pid != 0:
		r.Counters.follow(ns.inode, ns.pid)
	default:
		r.left.counters++
		r.Counters.left++
	}
}
