package demo

import (
	"context"
	"fmt"
	"net"
	"time"

	"golang.org/x/sys/unix"
)

// fullQueue connects to a listener that never accepts and has room for hardly anybody:
// the kernel drops further SYNs, and the clients send them again a second later.
func fullQueue(ctx context.Context) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("socket: %w", err)
	}
	defer unix.Close(fd)
	if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return fmt.Errorf("bind: %w", err)
	}
	if err := unix.Listen(fd, 0); err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	sa, err := unix.Getsockname(fd)
	if err != nil {
		return fmt.Errorf("find port: %w", err)
	}
	addr := fmt.Sprintf("127.0.0.1:%d", sa.(*unix.SockaddrInet4).Port)
	results := make(chan error, 4)
	for range cap(results) {
		go func() {
			c, err := net.DialTimeout("tcp", addr, 1500*time.Millisecond)
			if err == nil {
				defer c.Close()
				time.Sleep(1500 * time.Millisecond)
			}
			results <- nil // some are meant to time out
		}()
	}
	for range cap(results) {
		select {
		case <-results:
		case <-ctx.Done():
			return fmt.Errorf("connect to a full queue: %w", ctx.Err())
		}
	}
	return nil
}
