package traffic

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// Counters are the kernel's network counters of a namespace before and after,
// by name: "Tcp.RetransSegs", "TcpExt.TCPLostRetransmit", "Udp6InDatagrams",
// "Dev.lo.tx_packets".
type Counters struct {
	Before map[string]int `json:"before"`
	After  map[string]int `json:"after"`
}

// Delta is how much a counter grew.
func (c Counters) Delta(name string) int { return c.After[name] - c.Before[name] }

// ReadCounters reads the counters of the calling thread's network namespace.
func ReadCounters() (map[string]int, error) {
	out := map[string]int{}
	for name, parse := range map[string]func(io.Reader, map[string]int) error{
		"snmp": parsePairs, "netstat": parsePairs, "snmp6": parseSingle, "dev": parseDevices,
	} {
		f, err := os.Open("/proc/thread-self/net/" + name)
		if os.IsNotExist(err) && name == "snmp6" {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("reading the kernel's counters: %w", err)
		}
		err = parse(f, out)
		f.Close()
		if err != nil {
			return nil, fmt.Errorf("reading the kernel's counters in %s: %w", name, err)
		}
	}
	return out, nil
}

// parsePairs reads lines that come in twos: names, then values.
func parsePairs(r io.Reader, out map[string]int) error {
	sc := bufio.NewScanner(r)
	for sc.Scan() {
		names := strings.Fields(sc.Text())
		if !sc.Scan() {
			break
		}
		values := strings.Fields(sc.Text())
		if len(names) != len(values) || len(names) == 0 || names[0] != values[0] {
			return fmt.Errorf("%d names and %d values", len(names), len(values))
		}
		group := strings.TrimSuffix(names[0], ":") + "."
		for i := 1; i < len(names); i++ {
			n, err := strconv.Atoi(values[i])
			if err != nil {
				return err
			}
			out[group+names[i]] = n
		}
	}
	return sc.Err()
}

// parseSingle reads lines of a name and a value.
func parseSingle(r io.Reader, out map[string]int) error {
	sc := bufio.NewScanner(r)
	for sc.Scan() {
		f := strings.Fields(sc.Text())
		if len(f) != 2 {
			return fmt.Errorf("line %q", sc.Text())
		}
		n, err := strconv.Atoi(f[1])
		if err != nil {
			return err
		}
		out[f[0]] = n
	}
	return sc.Err()
}

// changes gives the counters that differ.
func changes(before, after map[string]int) map[string]int {
	out := map[string]int{}
	for name, n := range after {
		if d := n - before[name]; d != 0 {
			out[name] = d
		}
	}
	return out
}
