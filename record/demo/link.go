package demo

import (
	"context"
	"errors"
	"fmt"

	"github.com/vishvananda/netlink"
)

// A link as it is far away: packets wait, and some never arrive.
const (
	wait = 2000 // microseconds
	loss = 4    // per cent
	room = 300  // packets
)

// lossyLink transfers through a loopback device that holds packets back and loses some, so
// that something waits in a queue, is sent again, and slows a sender down. Not every kernel
// can do that, nor may everybody: then there is nothing to see.
func lossyLink(ctx context.Context) error {
	lo, err := netlink.LinkByName("lo")
	if err != nil {
		return fmt.Errorf("find loopback device: %w", err)
	}
	queue := netlink.NewNetem(netlink.QdiscAttrs{LinkIndex: lo.Attrs().Index, Handle: netlink.MakeHandle(1, 0), Parent: netlink.HANDLE_ROOT},
		netlink.NetemQdiscAttrs{Latency: wait, Loss: loss, Limit: room})
	if netlink.QdiscReplace(queue) != nil {
		return nil
	}
	err = transfer(ctx, "127.0.0.1:0", 300_000, 12_000_000)
	return errors.Join(err, netlink.QdiscDel(queue))
}
