package filter

import (
	"encoding/binary"
	"fmt"
	"math"
	"net/netip"
	"os/user"
	"strconv"
	"strings"

	"netrec/record/host"
	"netrec/schema"
)

// Kind is one filter: its flag, its help and how its values are understood.
type Kind struct {
	Name  string // of the flag, and in the file
	Value string // what it takes, for the help
	Usage string

	single bool
	add    func(s *Set, word string) (text string, err error)
}

func (k *Kind) most() int {
	if k.single {
		return 1
	}
	return MaxValues
}

// Kinds are all filters, in the order in which they are resolved: devices are those of
// the namespace.
var Kinds = []Kind{
	{Name: "netns", Value: "NS", Usage: "only this network namespace: name, path, pid, inode or self", add: addNetns},
	{Name: "pid", Value: "PID", Usage: "only rows made by this process", add: addPid},
	{Name: "comm", Value: "NAME", Usage: "only rows made by threads with this name", add: addComm},
	{Name: "uid", Value: "USER", Usage: "only this user, of the thread or socket: number or name", add: addUID},
	{Name: "cgroup", Value: "PATH", Usage: "only this cgroup (v2) and those below it, of the thread or socket: path or id", add: addCgroup},
	{Name: "container", Value: "NAME", Usage: "only this container: name, pod/name, id, or the start of the id", add: addContainer},
	{Name: "port", Value: "PORT", Usage: "only this local or remote port", add: addPort},
	{Name: "addr", Value: "CIDR", Usage: "only this local or remote address or network", add: addAddr},
	{Name: "proto", Value: "PROTO", Usage: "only this transport protocol: tcp, udp, icmp (both), sctp … or number", add: addProto},
	{Name: "tcp-state", Value: "STATE", Usage: "only TCP sockets in this state, such as ESTABLISHED; a state change matches by its old or new state", add: addState},
	{Name: "dev", Value: "DEV", Usage: "only this network device, of the packet or bound by the socket: name or index", add: addDev},
	{Name: "sample", Value: "1/N", Usage: "only this share of connections; both ends choose the same ones", single: true, add: addSample},
	{Name: "sample-seed", Value: "SEED", Usage: "choose a different sample of connections", single: true, add: addSeed},
}

func addNetns(s *Set, word string) (string, error) {
	inode, _, err := host.NetnsInode(word)
	s.Netns = append(s.Netns, inode)
	return strconv.FormatUint(uint64(inode), 10), err
}

func addPid(s *Set, word string) (string, error) {
	v, err := parseNumber(word, 1, 1<<22)
	return s.number("pid", v), err
}

// addComm cuts long names as the kernel does.
func addComm(s *Set, word string) (string, error) {
	const most = 15
	if word == "" {
		return "", fmt.Errorf("want a name")
	}
	var b [16]byte
	copy(b[:most], word)
	all := [2]uint64{math.MaxUint64, math.MaxUint64}
	value := [2]uint64{binary.NativeEndian.Uint64(b[:8]), binary.NativeEndian.Uint64(b[8:])}
	s.patterns["comm"] = append(s.patterns["comm"], pattern{value, all})
	return word[:min(len(word), most)], nil
}

func addUID(s *Set, word string) (string, error) {
	if u, err := user.Lookup(word); err == nil {
		word = u.Uid
	}
	v, err := parseNumber(word, 0, math.MaxUint32-1)
	if err != nil {
		return "", fmt.Errorf("no such user name or number")
	}
	return s.number("uid", v), nil
}

func addCgroup(s *Set, word string) (string, error) {
	id, path, err := host.Cgroup(word)
	s.ids["cgroup"] = append(s.ids["cgroup"], id)
	return path, err
}

func addContainer(s *Set, word string) (string, error) {
	id, path, err := host.Container(word)
	s.ids["cgroup"] = append(s.ids["cgroup"], id)
	return path, err
}

func addPort(s *Set, word string) (string, error) {
	v, err := parseNumber(word, 1, math.MaxUint16)
	return s.number("port", v), err
}

// addAddr keeps IPv4 as IPv6 shows it, so that both kinds of sockets match.
func addAddr(s *Set, word string) (string, error) {
	p, err := netip.ParsePrefix(word)
	if err != nil {
		a, err := netip.ParseAddr(word)
		if err != nil || a.Zone() != "" {
			return "", fmt.Errorf("want an address, or a network such as 10.0.0.0/8 or fd00::/8")
		}
		p = netip.PrefixFrom(a, a.BitLen())
	}
	p = p.Masked()
	bits := p.Bits()
	if p.Addr().Is4() {
		bits += 96
	} else if p.Addr().IsUnspecified() && bits <= 80 {
		return "", fmt.Errorf("also contains every IPv4 address; for all global IPv6 addresses use 2000::/3")
	}
	b := p.Addr().As16()
	value := [2]uint64{binary.BigEndian.Uint64(b[:8]), binary.BigEndian.Uint64(b[8:])}
	mask := [2]uint64{^(math.MaxUint64 >> min(bits, 64)), ^(math.MaxUint64 >> max(0, bits-64))}
	s.patterns["addr"] = append(s.patterns["addr"], pattern{value, mask})
	return p.String(), nil
}

func addProto(s *Set, word string) (string, error) {
	if strings.EqualFold(word, "icmp") { // its sockets and packets differ by family only
		s.number("proto", 1)
		s.number("proto", 58)
		return "icmp", nil
	}
	if v, ok := byName(schema.Enums["protocol"], word); ok {
		s.number("proto", uint32(v))
		return strings.ToLower(word), nil
	}
	v, err := parseNumber(word, 0, math.MaxUint16)
	if err != nil {
		return "", fmt.Errorf("no such protocol name or number")
	}
	return s.number("proto", v), nil
}

func addState(s *Set, word string) (string, error) {
	v, ok := byName(schema.TCPStates, strings.TrimPrefix(strings.ToUpper(word), "TCP_"))
	if !ok {
		var names []string
		for _, v := range schema.TCPStates.Values {
			names = append(names, v.Name)
		}
		return "", fmt.Errorf("want one of %s", strings.Join(names, ", "))
	}
	s.states |= 1 << v
	return schema.TCPStates.Lookup(v), nil
}

// addDev takes devices of the namespace that is recorded, or of the recorder's own, to
// which the recording is then limited: another namespace's devices have the same numbers.
func addDev(s *Set, word string) (string, error) {
	if len(s.Netns) == 0 {
		text, err := addNetns(s, "self")
		if err != nil {
			return "", err
		}
		s.note("netns", text)
	}
	if len(s.Netns) > 1 {
		return "", fmt.Errorf("a device belongs to one network namespace, but --netns names %d", len(s.Netns))
	}
	index, name, err := host.Device(s.Netns[0], word)
	if err != nil {
		return "", err
	}
	s.number("dev", uint32(index))
	return name, nil
}

func addSample(s *Set, word string) (string, error) {
	keep, of, err := Part(word)
	s.Sample = &schema.Sample{Keep: keep, Of: of}
	return "", err
}

// Part understands a part that is less than all, such as 1/16.
func Part(word string) (keep, of uint32, err error) {
	a, b, ok := strings.Cut(word, "/")
	k, err1 := strconv.ParseUint(a, 10, 16)
	n, err2 := strconv.ParseUint(b, 10, 32)
	if !ok || err1 != nil || err2 != nil || k == 0 || k >= n {
		return 0, 0, fmt.Errorf("want a part such as 1/16")
	}
	return uint32(k), uint32(n), nil
}

func addSeed(s *Set, word string) (string, error) {
	v, err := parseNumber(word, 0, math.MaxUint32)
	s.seed = v
	return "", err
}
