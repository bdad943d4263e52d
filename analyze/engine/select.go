package engine

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"netrec/analyze/scan"
)

// Selection is which rows a call is about. Zero values select everything.
type Selection struct {
	From, To int64 // ts_ns in [From, To)
	Pid      int64
	Comm     string
	Ports    []int64 // any of them
	Net      netip.Prefix
	Sock     uint64
}

// through reports whether the selection needs to know the sockets of rows.
func (s *Selection) through() bool {
	return s.Pid != 0 || s.Comm != "" || len(s.Ports) > 0 || s.Net.IsValid()
}

// any reports whether the selection leaves anything out.
func (s *Selection) any() bool { return s.through() || s.From != 0 || s.To != 0 || s.Sock != 0 }

// NewSelection reads the values of the options that select, by name.
func NewSelection(m *scan.Meta, opt map[string]string) (Selection, error) {
	var s Selection
	var err error
	for name, v := range opt {
		var e error
		switch name {
		case "from":
			s.From, e = parseTime(m, v)
		case "to":
			s.To, e = parseTime(m, v)
		case "pid":
			s.Pid, e = strconv.ParseInt(v, 10, 32)
		case "comm":
			s.Comm = v
		case "port":
			s.Ports, e = ParsePorts(v)
		case "addr":
			s.Net, e = parseNet(v)
		case "sock":
			s.Sock, e = ParseAddr(v)
		}
		if e != nil && err == nil {
			err = fmt.Errorf("option --%s: %w", name, e)
		}
	}
	if err == nil && s.To != 0 && s.To <= s.From {
		err = fmt.Errorf("option --to: %s is not after --from", opt["to"])
	}
	return s, err
}

// ParseAddr reads a kernel address, with or without 0x.
func ParseAddr(s string) (uint64, error) {
	v, err := strconv.ParseUint(strings.TrimPrefix(strings.ToLower(s), "0x"), 16, 64)
	if err != nil || v == 0 {
		return 0, fmt.Errorf("%q is not a kernel address such as 0xffff888012345678", s)
	}
	return v, nil
}

// ParsePorts reads ports separated by commas.
func ParsePorts(list string) ([]int64, error) {
	var ports []int64
	for s := range strings.SplitSeq(list, ",") {
		p, err := strconv.ParseUint(s, 10, 16)
		if err != nil || p == 0 {
			return nil, fmt.Errorf("%q is not a port", s)
		}
		ports = append(ports, int64(p))
	}
	return ports, nil
}

// CheckPort refuses what is no port.
func CheckPort(s string) error {
	_, err := ParsePorts(s)
	return err
}

func parseNet(s string) (netip.Prefix, error) {
	if p, err := netip.ParsePrefix(s); err == nil {
		return p.Masked(), nil
	}
	a, err := netip.ParseAddr(s)
	if err != nil {
		return netip.Prefix{}, fmt.Errorf("%q is neither an address nor a prefix", s)
	}
	return netip.PrefixFrom(a, a.BitLen()), nil
}

// parseTime reads a time as people type it or as answers print it: 5s, +1m30s or 5.25 (after the
// start), RFC 3339, a date and time in UTC, Unix nanoseconds, or the time of day in the
// recording's zone; a time of day before the start is the next day's if the recording lasted
// until then.
func parseTime(m *scan.Meta, s string) (int64, error) {
	start := m.Start()
	if d, err := time.ParseDuration(strings.ReplaceAll(strings.TrimPrefix(s, "+"), " ", "")); err == nil {
		return start + int64(d), nil
	}
	if d, err := time.ParseDuration(s + "s"); err == nil {
		return start + int64(d), tooLate(m, d, s)
	}
	if ns, err := strconv.ParseInt(s, 10, 64); err == nil {
		return ns, nil
	}
	for _, layout := range []string{time.RFC3339Nano, time.DateTime} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UnixNano(), nil
		}
	}
	zone := time.FixedZone(m.Host.Zone, m.Host.Offset)
	for _, layout := range []string{"15:04:05", "15:04"} {
		t, err := time.Parse(layout, s)
		if err != nil {
			continue
		}
		day := time.Unix(0, start).In(zone)
		at := time.Date(day.Year(), day.Month(), day.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), zone)
		if next := at.AddDate(0, 0, 1); at.UnixNano() < start && next.UnixNano() <= m.LastNS {
			at = next
		}
		return at.UnixNano(), nil
	}
	return 0, fmt.Errorf("%q is not a time: 5s, 5.25, +1m30s, 13:52:39 or 2006-01-02T15:04:05Z", s)
}

// tooLate refuses a number of seconds that the recording does not have by far: it is most likely one
// of a column in microseconds.
func tooLate(m *scan.Meta, d time.Duration, s string) error {
	length := time.Duration(max(m.LastNS, m.Recording.StopNS) - m.Start())
	if length <= 0 || d <= length+time.Hour || d/1e6 > length {
		return nil
	}
	return &UsageError{Msg: fmt.Sprintf("%s seconds are after the end of the recording", s), Meant: fmt.Sprintf("did you mean %sus?", s)}
}
