package record

import (
	"fmt"
	"net"
)

// notify tells the service manager something, in the protocol of sd_notify(3): a datagram
// to a UNIX socket. No socket, nobody to tell.
func notify(socket, state string) error {
	if socket == "" {
		return nil
	}
	// A leading @ is an abstract name, for package net as for the manager.
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		return fmt.Errorf("tell the service manager %s: %w", state, err)
	}
	defer conn.Close()
	if _, err := conn.Write([]byte(state)); err != nil {
		return fmt.Errorf("tell the service manager %s: %w", state, err)
	}
	return nil
}
