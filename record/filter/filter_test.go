package filter

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"netrec/bpf"
)

var ones = ^uint64(0)

func first[T any](v ...T) (a [MaxValues]T) {
	copy(a[:], v)
	return a
}

func TestResolve(t *testing.T) {
	const mapped = uint64(0xffff) << 32
	for _, tt := range []struct {
		name   string
		words  []string
		want   map[string]any
		text   string
		wanted string // part of the error
	}{
		{"pid", []string{"7", "9"}, map[string]any{"cfg_pid_count": uint32(2), "cfg_pid": first[uint32](7, 9)}, "7,9", ""},
		{"pid", []string{"0"}, nil, "", "--pid 0: want a number from 1"},
		{"pid", strings.Split("1 2 3 4 5 6 7 8 9", " "), nil, "", "9 values, at most 8"},
		{"comm", []string{"a-name-that-is-too-long"}, nil, "a-name-that-is-too-long (a-name-that-is-)", ""},
		{"comm", []string{"ab"}, map[string]any{"cfg_comm": first(pattern{[2]uint64{0x6261, 0}, [2]uint64{ones, ones}})}, "ab", ""},
		{"uid", []string{"root", "65534"}, map[string]any{"cfg_uid": first[uint32](0, 65534), "cfg_uid_count": uint32(2)}, "root (0),65534", ""},
		{"uid", []string{"no such user"}, nil, "", "no such user"},
		{"port", []string{"443"}, map[string]any{"cfg_port_count": uint32(1), "cfg_port": first[uint32](443)}, "443", ""},
		{"port", []string{"65536"}, nil, "", "65535"},
		{"addr", []string{"10.1.2.3/8"}, map[string]any{"cfg_addr": first(pattern{[2]uint64{0, mapped | 10<<24}, [2]uint64{ones, ones << 24}})}, "10.1.2.3/8 (10.0.0.0/8)", ""},
		{"addr", []string{"::ffff:10.0.0.1"}, map[string]any{"cfg_addr": first(pattern{[2]uint64{0, mapped | 10<<24 | 1}, [2]uint64{ones, ones}})}, "::ffff:10.0.0.1/128", ""},
		{"addr", []string{"0.0.0.0/0"}, map[string]any{"cfg_addr": first(pattern{[2]uint64{0, mapped}, [2]uint64{ones, ones << 32}})}, "0.0.0.0/0", ""},
		{"addr", []string{"fd00::/9"}, map[string]any{"cfg_addr": first(pattern{[2]uint64{0xfd << 56, 0}, [2]uint64{ones << 55, 0}})}, "fd00::/9", ""},
		{"addr", []string{"::/0"}, nil, "", "every IPv4 address"},
		{"addr", []string{"fe80::1%lo"}, nil, "", "want an address"},
		{"addr", []string{"example.org"}, nil, "", "want an address"},
		{"proto", []string{"icmp", "TCP", "132"}, map[string]any{"cfg_proto": first[uint32](1, 58, 6, 132), "cfg_proto_count": uint32(4)}, "icmp,tcp,132", ""},
		{"proto", []string{"no"}, nil, "", "no such protocol"},
		{"tcp-state", []string{"listen", "TCP_ESTABLISHED"}, map[string]any{"cfg_states": uint32(1<<10 | 1<<1)}, "LISTEN,TCP_ESTABLISHED (ESTABLISHED)", ""},
		{"tcp-state", []string{"open"}, nil, "", "want one of ESTABLISHED, SYN_SENT"},
		{"sample", []string{"1/16"}, map[string]any{"cfg_sample": uint64(1) << 28}, "", ""},
		{"sample", []string{"2/2"}, nil, "", "such as 1/16"},
		{"sample-seed", []string{"7"}, nil, "", "needs --sample"},
		{"cgroup", []string{"/"}, nil, "", "every process"},
		{"cgroup", []string{"4711"}, map[string]any{"cfg_cgroup": first[uint64](4711)}, "4711", ""},
		{"dev", []string{"no-such-device"}, nil, "", "device no-such-device"},
		{"colour", []string{"red"}, nil, "", `no filter "colour"`},
	} {
		t.Run(tt.name+" "+strings.Join(tt.words, ","), func(t *testing.T) {
			s, err := Resolve(Words{tt.name: tt.words})
			if tt.wanted != "" {
				if err == nil || !strings.Contains(err.Error(), tt.wanted) {
					t.Fatalf("got %v, want an error with %q", err, tt.wanted)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if s.Text[tt.name] != tt.text {
				t.Errorf("the file would say %q, want %q", s.Text[tt.name], tt.text)
			}
			got := s.Constants()
			for name, v := range tt.want {
				if got[name] != v {
					t.Errorf("%s is %v, want %v", name, got[name], v)
				}
			}
		})
	}
}

// A device is one of a namespace, so a recording of it is limited to that.
func TestDeviceBringsItsNamespace(t *testing.T) {
	s, err := Resolve(Words{"dev": {"lo"}})
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Netns) != 1 || s.Text["netns"] != fmt.Sprint(s.Netns[0]) || s.Constants()["cfg_dev"] != first[uint32](1) {
		t.Errorf("got namespaces %d, %v, %v", s.Netns, s.Text, s.Constants())
	}
	if _, err := Resolve(Words{"dev": {"lo"}, "netns": {"self", "self"}}); err == nil || !strings.Contains(err.Error(), "a device belongs to one network namespace") {
		t.Errorf("a device of two namespaces: %v", err)
	}
}

// Up to eight namespaces are alternatives, as the values of other filters are.
func TestSeveralNamespaces(t *testing.T) {
	s, err := Resolve(Words{"netns": slices.Repeat([]string{"self"}, MaxValues)})
	if err != nil {
		t.Fatal(err)
	}
	c := s.Constants()
	if list, _ := c["cfg_netns_more"].([MaxValues]uint32); c["cfg_netns"] != s.Netns[0] || c["cfg_netns_more_count"] != uint32(MaxValues-1) || list[MaxValues-2] != s.Netns[0] {
		t.Errorf("constants %v", c)
	}
	if _, err := Resolve(Words{"netns": slices.Repeat([]string{"self"}, MaxValues+1)}); err == nil || !strings.Contains(err.Error(), "at most 8") {
		t.Errorf("nine namespaces: %v", err)
	}
}

// Every constant is one of the probes', of its size.
func TestConstantsFit(t *testing.T) {
	spec, err := bpf.Spec()
	if err != nil {
		t.Fatal(err)
	}
	s, err := Resolve(Words{"pid": {"1"}, "comm": {"a"}, "uid": {"0"}, "cgroup": {"2"}, "port": {"1"}, "addr": {"::1"}, "proto": {"tcp"},
		"tcp-state": {"CLOSE"}, "dev": {"lo"}, "sample": {"1/2"}, "sample-seed": {"3"}})
	if err != nil {
		t.Fatal(err)
	}
	for name, v := range s.Constants() {
		if spec.Variables[name] == nil {
			t.Errorf("the probes have no %s", name)
		} else if err := spec.Variables[name].Set(v); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A user reads about every filter there is.
func TestKindsAreDocumented(t *testing.T) {
	b, err := os.ReadFile("../../docs/filters.md")
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, k := range Kinds {
		names[k.Name] = true
		if !strings.Contains(string(b), "`--"+k.Name+"`") {
			t.Errorf("docs/filters.md does not have --%s", k.Name)
		}
	}
	if len(names) != len(Kinds) {
		t.Errorf("names are not unique: %v", slices.Sorted(maps.Keys(names)))
	}
}
