package reader

import (
	"context"
	"errors"
	"time"

	"netrec/record/fence"
	"netrec/record/host"
	"netrec/schema"
)

// Bounds of a question: a pass over all descriptors of a large host takes its time, and its
// answer must fit into a message.
const (
	ownersPatience = 20 * time.Second
	ownersAtOnce   = 1000
)

// Owners finds who has sockets open, by inode; nothing of those that it cannot find out about.
func (r *Reader) Owners(inodes []uint32) map[uint32][]schema.Owner {
	all := map[uint32][]schema.Owner{}
	for len(inodes) > 0 {
		n := min(ownersAtOnce, len(inodes))
		if !r.someOwners(inodes[:n], all) {
			break
		}
		inodes = inodes[n:]
	}
	return all
}

// someOwners reports whether it is worth to go on. An answer that is too long for a message,
// because many share a socket, is asked for in two halves.
func (r *Reader) someOwners(inodes []uint32, all map[uint32][]schema.Owner) bool {
	var found map[uint32][]schema.Owner
	_, err := r.process.Ask(ownersPatience, askOwners, inodes, &found)
	if gone := (*fence.GoneError)(nil); errors.As(err, &gone) || errors.Is(err, fence.ErrStuck) {
		return false
	}
	if half := len(inodes) / 2; err != nil && half > 0 {
		return r.someOwners(inodes[:half], all) && r.someOwners(inodes[half:], all)
	}
	for inode, owners := range found {
		all[inode] = owners
	}
	return true
}

// owners answers in the process.
func owners(inodes []uint32) (map[uint32][]schema.Owner, error) {
	found, err := host.FindOwners(context.Background(), inodes)
	return found.Owners, err
}
