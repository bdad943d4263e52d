package record_test

import (
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"netrec/analyze/scan"
	"netrec/record/rig"
	"netrec/schema"
)

// exchange connects to a listener of its own and sends seven bytes.
func exchange(n *rig.Namespace) (port int, err error) {
	err = n.Do(func() error {
		l, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			return err
		}
		defer l.Close()
		port = l.Addr().(*net.TCPAddr).Port
		c, err := net.Dial("tcp4", l.Addr().String())
		if err != nil {
			return err
		}
		defer c.Close()
		_, err = c.Write([]byte("7 bytes"))
		return err
	})
	return port, err
}

// ports lists the ports of the sockets in a recording.
func ports(t *testing.T, path string) map[int64]int {
	t.Helper()
	f, err := scan.Open(path, scan.Options{})
	must(t, err)
	defer f.Close()
	lport, rport := scan.Col(schema.ColumnIndex("lport")), scan.Col(schema.ColumnIndex("rport"))
	seen := map[int64]int{}
	must(t, f.Scan(scan.Query{}, func(r *scan.Row) error {
		for _, c := range []scan.Col{lport, rport} {
			if r.Has(c) {
				seen[r.Int(c)]++
			}
		}
		return nil
	}))
	return seen
}

// Each filter lets through what it names and nothing else.
func TestFilters(t *testing.T) {
	b := newBench(t, "that filters keep what they name and nothing else")
	other, err := rig.New()
	must(t, err)
	t.Cleanup(other.Close)

	t.Run("netns", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "c.parquet")
		rec, err := b.ns.Record(b.bin, path)
		must(t, err)
		in, err := exchange(b.ns)
		must(t, err)
		out, err := exchange(other)
		must(t, err)
		_, _, err = rec.End(syscall.SIGINT)
		must(t, err)
		if seen := ports(t, path); seen[int64(in)] == 0 || (out != in && seen[int64(out)] != 0) {
			t.Errorf("wanted port %d and not %d, got %v\n%s", in, out, seen, rec.Said())
		}
	})
	t.Run("port", func(t *testing.T) {
		const port = 47_117
		path := filepath.Join(t.TempDir(), "c.parquet")
		rec, err := b.ns.Record(b.bin, path, "--port", fmt.Sprint(port))
		must(t, err)
		_, err = exchange(b.ns)
		must(t, err)
		must(t, b.ns.Do(func() error {
			l, err := net.Listen("tcp4", fmt.Sprintf("127.0.0.1:%d", port))
			if err != nil {
				return err
			}
			defer l.Close()
			c, err := net.Dial("tcp4", l.Addr().String())
			if err != nil {
				return err
			}
			return c.Close()
		}))
		_, _, err = rec.End(syscall.SIGINT)
		must(t, err)
		c := read(t, path)
		rows, seen := int64(0), ports(t, path)
		for p, n := range c.rows {
			if p.event == "tcp_state" {
				rows += n
			}
		}
		if rows == 0 || int64(seen[port]) < rows {
			t.Errorf("%d changes of state, %d rows with port %d, got %v", rows, seen[port], port, seen)
		}
	})
	t.Run("pid", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "c.parquet")
		child := exec.Command("sleep", "60") // makes no socket calls
		must(t, child.Start())
		defer func() { _ = child.Process.Kill(); _ = child.Wait() }()
		rec, err := b.ns.Record(b.bin, path, "--pid", fmt.Sprint(child.Process.Pid))
		must(t, err)
		_, err = exchange(b.ns)
		must(t, err)
		_, _, err = rec.End(syscall.SIGINT)
		must(t, err)
		for p, n := range read(t, path).rows {
			if strings.HasPrefix(p.event, "sys_") || p.event == "sock_io" {
				t.Errorf("%d rows of %s, made by another process", n, p.event)
			}
		}
	})
}
