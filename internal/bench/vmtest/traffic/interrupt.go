package traffic

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// Interrupts are the kernel's counts of the whole machine: softirqs by vector
// ("NET_RX") and interrupts of devices by number ("36"), read between Begin and End.
type Interrupts struct {
	Begin  int64          `json:"begin"`
	End    int64          `json:"end"`
	Counts map[string]int `json:"counts"`
}

func (w *worker) interrupts() Interrupts {
	n := Interrupts{Begin: now(), Counts: map[string]int{}}
	for _, name := range []string{"/proc/softirqs", "/proc/interrupts"} {
		f, err := os.Open(name)
		if err != nil {
			w.fail("counting interrupts: %w", err)
		}
		err = parseInterrupts(f, n.Counts)
		f.Close()
		if err != nil {
			w.fail("counting interrupts in %s: %w", name, err)
		}
	}
	n.End = now()
	return n
}

// parseInterrupts adds up the CPUs of each line. Interrupts that several devices
// share are left out, because each runs several handlers.
func parseInterrupts(r io.Reader, out map[string]int) error {
	sc := bufio.NewScanner(r)
	sc.Scan()
	cpus := len(strings.Fields(sc.Text()))
	for sc.Scan() {
		f := strings.Fields(sc.Text())
		if len(f) < cpus+1 || strings.Contains(sc.Text(), ", ") {
			continue
		}
		sum := 0
		for _, s := range f[1 : cpus+1] {
			n, err := strconv.Atoi(s)
			if err != nil {
				return fmt.Errorf("line %q: %w", sc.Text(), err)
			}
			sum += n
		}
		out[strings.TrimSuffix(f[0], ":")] = sum
	}
	return sc.Err()
}

// parseDevices reads /proc/net/dev: two lines of headings, then a device a line.
func parseDevices(r io.Reader, out map[string]int) error {
	sc := bufio.NewScanner(r)
	for line := 0; sc.Scan(); line++ {
		name, rest, ok := strings.Cut(sc.Text(), ":")
		f := strings.Fields(rest)
		if line < 2 || !ok || len(f) < 16 {
			continue
		}
		for column, i := range map[string]int{"rx_packets": 1, "rx_dropped": 3, "tx_packets": 9, "tx_dropped": 11} {
			n, err := strconv.Atoi(f[i])
			if err != nil {
				return fmt.Errorf("line %q: %w", sc.Text(), err)
			}
			out["Dev."+strings.TrimSpace(name)+"."+column] = n
		}
	}
	return sc.Err()
}
