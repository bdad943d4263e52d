package host

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// settings stand among the counters in /proc/net/snmp, but do not count: they
// neither add up over namespaces nor have an increment.
var settings = map[string]bool{
	"IpForwarding": true, "IpDefaultTTL": true,
	"TcpRtoAlgorithm": true, "TcpRtoMin": true, "TcpRtoMax": true, "TcpMaxConn": true,
}

// counterFiles stand in /proc/PID/net; the last is missing without IPv6.
var counterFiles = [...]string{"snmp", "netstat", "snmp6"}

// parseCounters adds the counters of one of counterFiles to m, by the names that
// nstat gives them.
func parseCounters(m map[string]int64, name string, r io.Reader) error {
	parse := parsePairs
	if name == "snmp6" {
		parse = parseColumns
	}
	if err := parse(m, r); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// maxCounterLine is far above what a kernel prints: TcpExt is 3 KB today.
const maxCounterLine = 1 << 20

// parsePairs reads snmp and netstat: a line of names, then a line of values, each
// after the same prefix.
func parsePairs(m map[string]int64, r io.Reader) error {
	s := bufio.NewScanner(r)
	s.Buffer(nil, maxCounterLine)
	for s.Scan() {
		prefix, names, ok := strings.Cut(s.Text(), ":")
		if !s.Scan() {
			return fmt.Errorf("names of %s without values", prefix)
		}
		again, values, ok2 := strings.Cut(s.Text(), ":")
		ns, vs := strings.Fields(names), strings.Fields(values)
		if !ok || !ok2 || prefix != again || len(ns) != len(vs) {
			return fmt.Errorf("names and values of %s do not match", prefix)
		}
		for i := range ns {
			if err := add(m, prefix+ns[i], vs[i]); err != nil {
				return err
			}
		}
	}
	return s.Err()
}

// parseColumns reads snmp6: one name and value a line.
func parseColumns(m map[string]int64, r io.Reader) error {
	s := bufio.NewScanner(r)
	for s.Scan() {
		name, value, _ := strings.Cut(s.Text(), "\t")
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		if err := add(m, name, strings.TrimSpace(value)); err != nil {
			return err
		}
	}
	return s.Err()
}

func add(m map[string]int64, name, value string) error {
	if settings[name] {
		return nil
	}
	v, err := strconv.ParseInt(value, 10, 64)
	if errors.Is(err, strconv.ErrRange) {
		u, uerr := strconv.ParseUint(value, 10, 64) // unsigned in the kernel, wraps here
		v, err = int64(u), uerr
	}
	if err != nil {
		return fmt.Errorf("counter %s: %w", name, err)
	}
	m[name] += v
	return nil
}
