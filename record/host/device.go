package host

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"netrec/schema"
)

// devices reads interfaces and queueing disciplines of the calling thread's
// namespace.
func (r *Report) devices(inode uint32) {
	links, err := netlink.LinkList()
	if err != nil {
		r.warn("interfaces of network namespace %d: %v", inode, err)
	}
	ctl, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err == nil {
		defer unix.Close(ctl)
	}
	for i, l := range links {
		if len(r.Interfaces) == MaxInterfaces {
			r.left.interfaces += len(links) - i
			break
		}
		a := l.Attrs()
		r.Interfaces = append(r.Interfaces, schema.Interface{
			Netns: inode, Index: a.Index, Name: a.Name, MTU: a.MTU, Type: l.Type(),
			GSOMax: a.GSOMaxSize, Driver: driver(ctl, a.Name),
		})
	}
	r.qdiscs(inode)
}

// driver asks ethtool's interface for the name of the driver; "" if there is none.
func driver(ctl int, name string) string {
	if ctl < 0 {
		return ""
	}
	info, err := unix.IoctlGetEthtoolDrvinfo(ctl, name)
	if err != nil {
		return ""
	}
	return unix.ByteSliceToString(info.Driver[:])
}

func (r *Report) qdiscs(inode uint32) {
	list, err := netlink.QdiscList(nil)
	if err != nil && !errors.Is(err, unix.EOPNOTSUPP) { // a kernel without traffic control
		r.warn("queueing disciplines of network namespace %d: %v", inode, err)
	}
	for i, q := range list {
		if len(r.Qdiscs) == MaxQdiscs {
			r.left.qdiscs += len(list) - i
			break
		}
		a := q.Attrs()
		r.Qdiscs = append(r.Qdiscs, schema.Qdisc{
			Netns: inode, Index: a.LinkIndex, Kind: q.Type(), Handle: handle(a.Handle), Parent: handle(a.Parent),
		})
	}
}

// handle writes a handle as tc does: "8001:" for a discipline, "8001:2" for a
// class of it.
func handle(h uint32) string {
	switch {
	case h == netlink.HANDLE_ROOT:
		return "root"
	case h == netlink.HANDLE_INGRESS:
		return "ingress"
	case h&0xffff == 0:
		return fmt.Sprintf("%x:", h>>16)
	}
	return fmt.Sprintf("%x:%x", h>>16, h&0xffff)
}

// Device finds a device of a network namespace by name or index; a name wins.
func Device(netns uint32, spec string) (index int, name string, err error) {
	list, _, err := findNamespaces(context.Background(), []uint32{netns})
	if err != nil {
		return 0, "", err
	}
	var link netlink.Link
	enter := list[0].do(func() {
		link, err = netlink.LinkByName(spec)
		if n, nan := strconv.Atoi(spec); err != nil && nan == nil {
			link, err = netlink.LinkByIndex(n)
		}
	})
	if enter != nil {
		return 0, "", fmt.Errorf("network namespace %d: %w", netns, enter)
	}
	if err != nil {
		return 0, "", fmt.Errorf("device %s in network namespace %d: %w", spec, netns, err)
	}
	return link.Attrs().Index, link.Attrs().Name, nil
}
