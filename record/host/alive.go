package host

import (
	"github.com/vishvananda/netlink/nl"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"

	"netrec/schema"
)

// Alive asks which sockets there are now, also after the privilege to enter their
// namespaces is gone. It holds a netlink socket in the namespace that was filtered for,
// or in the recorder's own; others would outlive their containers by it.
type Alive struct {
	held []heldNetns
}

type heldNetns struct {
	inode uint32
	at    asked
}

// hold keeps a way to ask the namespace that the calling thread is in. Without one its
// sockets stay those of the start.
func (a *Alive) hold(inode uint32) {
	s, err := nl.GetNetlinkSocketAt(netns.None(), netns.None(), unix.NETLINK_INET_DIAG)
	if err == nil {
		a.held = append(a.held, heldNetns{inode, asked{unix.NETLINK_INET_DIAG: {Socket: s}}})
	}
}

// Read lists the sockets that are alive now. Of namespaces that cannot be asked any
// more it has those of before, and old counts them. Owners are those that find knows, by inode;
// of sockets that it knows nothing of, those of before.
func (a *Alive) Read(before []schema.Socket, find func(inodes []uint32) map[uint32][]schema.Owner) (now []schema.Socket, old int) {
	r := &Report{}
	held := map[uint32]bool{}
	for _, h := range a.held {
		r.sockets(h.inode, h.at)
		held[h.inode] = true
	}
	r.take(find(r.inodes()))
	owners := map[int64][]schema.Owner{}
	for i := range before {
		s := &before[i]
		if !held[s.Netns] && len(r.Sockets) < MaxSockets {
			r.Sockets = append(r.Sockets, *s)
			old++
			continue
		}
		owners[s.Cookie] = s.Owners
	}
	for i := range r.Sockets {
		if s := &r.Sockets[i]; len(s.Owners) == 0 && s.Cookie != 0 {
			s.Owners = owners[s.Cookie]
		}
	}
	return r.Sockets, old
}

// Close lets go of what is held.
func (a *Alive) Close() {
	for _, h := range a.held {
		for _, s := range h.at {
			s.Close()
		}
	}
	a.held = nil
}
