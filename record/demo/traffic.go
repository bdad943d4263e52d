package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"time"

	"github.com/vishvananda/netlink"
)

// Up brings the loopback device of a fresh namespace up.
func Up() error {
	lo, err := netlink.LinkByName("lo")
	if err != nil {
		return fmt.Errorf("find loopback device: %w", err)
	}
	if err := netlink.LinkSetUp(lo); err != nil {
		return fmt.Errorf("bring loopback device up: %w", err)
	}
	return nil
}

// Traffic makes a few seconds of traffic: transfers of many sizes over TCP with IPv4
// and IPv6, a slow server, refused connects, a listener whose queue is full so that
// connects retransmit, UDP to nobody, small writes, name lookups, and a link that loses packets.
func Traffic(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	var errs []error
	for _, f := range []func(context.Context) error{transfers, slowServer, refused, fullQueue, datagrams, smallWrites, lookups, lossyLink} {
		errs = append(errs, f(ctx))
	}
	return errors.Join(errs...)
}

// serve answers each connection with handle until the listener is closed.
func serve(addr string, handle func(net.Conn)) (net.Listener, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				handle(c)
			}()
		}
	}()
	return l, nil
}

func transfers(ctx context.Context) error {
	for _, host := range []string{"127.0.0.1:0", "[::1]:0"} {
		if err := transfer(ctx, host, 1, 100, 1500, 40_000, 700_000, 9_000_000); err != nil {
			return err
		}
	}
	return nil
}

// transfer fetches as many bytes as asked for from a server at an address, over a connection each.
func transfer(ctx context.Context, host string, sizes ...int) error {
	l, err := serve(host, func(c net.Conn) {
		var ask [8]byte
		if _, err := io.ReadFull(c, ask[:]); err != nil {
			return
		}
		var n int
		if _, err := fmt.Sscanf(string(ask[:]), "%d", &n); err != nil {
			return
		}
		_, _ = c.Write(make([]byte, n))
	})
	if err != nil {
		return err
	}
	defer l.Close()
	for _, n := range sizes {
		if err := fetch(ctx, l.Addr().String(), n); err != nil {
			return err
		}
	}
	return nil
}

func fetch(ctx context.Context, addr string, n int) error {
	c, err := dial(ctx, addr)
	if err != nil {
		return err
	}
	defer c.Close()
	if _, err := fmt.Fprintf(c, "%8d", n); err != nil {
		return fmt.Errorf("ask for %d bytes: %w", n, err)
	}
	if _, err := io.CopyN(io.Discard, c, int64(n)); err != nil {
		return fmt.Errorf("fetch %d bytes: %w", n, err)
	}
	return nil
}

func dial(ctx context.Context, addr string) (net.Conn, error) {
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", addr, err)
	}
	return c, nil
}

// slowServer takes its time before the first byte, each time more.
func slowServer(ctx context.Context) error {
	delay := make(chan time.Duration, 8)
	l, err := serve("127.0.0.1:0", func(c net.Conn) {
		time.Sleep(<-delay)
		_, _ = c.Write([]byte("at last\n"))
	})
	if err != nil {
		return err
	}
	defer l.Close()
	for _, ms := range []int{1, 3, 10, 40, 120} {
		delay <- time.Duration(ms) * time.Millisecond
		c, err := dial(ctx, l.Addr().String())
		if err != nil {
			return err
		}
		_, _ = io.ReadAll(c)
		c.Close()
	}
	return nil
}

func refused(context.Context) error {
	for range 3 {
		c, err := net.DialTimeout("tcp", "127.0.0.1:9", time.Second)
		if err == nil {
			c.Close()
			return errors.New("port 9 answers in a namespace that should have nobody")
		}
	}
	return nil
}

// datagrams go to a socket, and to a port where nobody listens.
func datagrams(context.Context) error {
	in, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	defer in.Close()
	for _, to := range []string{in.LocalAddr().String(), "127.0.0.1:9"} {
		c, err := net.Dial("udp", to)
		if err != nil {
			return fmt.Errorf("connect: %w", err)
		}
		for range 11 {
			_, _ = c.Write([]byte("datagram"))
		}
		c.Close()
	}
	buf := make([]byte, 64)
	for range 11 {
		if _, _, err := in.ReadFrom(buf); err != nil {
			return fmt.Errorf("receive: %w", err)
		}
	}
	return nil
}

// smallWrites sends little pieces with Nagle's algorithm on.
func smallWrites(ctx context.Context) error {
	l, err := serve("127.0.0.1:0", func(c net.Conn) { _, _ = io.Copy(io.Discard, c) })
	if err != nil {
		return err
	}
	defer l.Close()
	c, err := dial(ctx, l.Addr().String())
	if err != nil {
		return err
	}
	defer c.Close()
	_ = c.(*net.TCPConn).SetNoDelay(false)
	for range 200 {
		if _, err := c.Write(make([]byte, 17)); err != nil {
			return fmt.Errorf("send: %w", err)
		}
		time.Sleep(500 * time.Microsecond)
	}
	return nil
}

// lookups go through the C library, which Go itself does without.
func lookups(ctx context.Context) error {
	for _, name := range []string{"localhost", "ip6-localhost", "localhost", "no-such-host.invalid"} {
		_ = exec.CommandContext(ctx, "getent", "ahosts", name).Run() // a name that is not found is what is wanted
	}
	return nil
}
