package filter

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"netrec/schema"
)

// MaxValues is how many values a filter may have; FILTER_VALUES in bpf/filter.h.
const MaxValues = 8

// Words are the values of filters as the user gave them, by the name of the filter.
// Values of one filter are alternatives; a row must pass all filters.
type Words map[string][]string

// Set is filters ready for the probes.
type Set struct {
	Netns  []uint32          // inodes of namespaces, none for all
	Text   map[string]string // by name, as the file keeps it
	Sample *schema.Sample    // nil for all connections

	numbers  map[string][]uint32
	ids      map[string][]uint64
	patterns map[string][]pattern
	states   uint32
	seed     uint32
}

// pattern is struct pattern of bpf/filter.h: sixteen bytes, as many bits of which as the
// mask has must be equal.
type pattern struct{ Value, Mask [2]uint64 }

// Bits of cfg_filters, as bpf/filter.h has them: the probes look at a filter only where its
// bit is set.
const (
	byWho = 1 << iota
	byEnd
	bySample
	byProto
	byState
	byDev
)

// Resolve understands all words or says which it does not. It reads the host: names of
// namespaces, users, devices and cgroups mean what they mean now.
func Resolve(words Words) (*Set, error) {
	s := &Set{Text: map[string]string{}, numbers: map[string][]uint32{}, ids: map[string][]uint64{}, patterns: map[string][]pattern{}}
	for name := range words {
		if !slices.ContainsFunc(Kinds, func(k Kind) bool { return k.Name == name }) {
			return nil, fmt.Errorf("no filter %q", name)
		}
	}
	for _, k := range Kinds {
		for _, w := range words[k.Name] {
			text, err := k.add(s, w)
			if err != nil {
				return nil, fmt.Errorf("--%s %s: %w", k.Name, w, err)
			}
			s.note(k.Name, echo(w, text))
		}
		if n := len(words[k.Name]); n > MaxValues || n > 1 && k.single {
			return nil, fmt.Errorf("--%s: %d values, at most %d are possible", k.Name, n, k.most())
		}
	}
	return s, s.check()
}

// echo is a value as it was typed, with what it stands for where that is something else.
func echo(word, text string) string {
	if text == "" || strings.EqualFold(word, text) || strings.HasPrefix(text, word+"/") {
		return text
	}
	return word + " (" + text + ")"
}

func (s *Set) note(name, text string) {
	if old := s.Text[name]; old != "" && text != "" {
		text = old + "," + text
	}
	if text != "" {
		s.Text[name] = text
	}
}

// check finds what no single word shows.
func (s *Set) check() error {
	for name, n := range map[string]int{"proto": len(s.numbers["proto"]), "cgroup": len(s.ids["cgroup"])} {
		if n > MaxValues {
			return fmt.Errorf("--%s: stands for %d values, at most %d are possible", name, n, MaxValues)
		}
	}
	if s.seed != 0 && s.Sample == nil {
		return fmt.Errorf("--sample-seed %d: needs --sample", s.seed)
	}
	if s.Sample != nil {
		s.Sample.Seed = s.seed
	}
	return nil
}

// Constants are the values of the constants in bpf/filter.h, by name.
func (s *Set) Constants() map[string]any {
	bits := map[string]uint32{"pid": byWho, "comm": byWho, "uid": byWho, "cgroup": byWho, "port": byEnd, "addr": byEnd, "proto": byProto, "dev": byDev}
	var used uint32
	c := map[string]any{"cfg_states": s.states, "cfg_sample_seed": uint64(s.seed)}
	if len(s.Netns) > 0 {
		c["cfg_netns"] = s.Netns[0]
		put(c, "netns_more", s.Netns[1:])
	}
	if s.states != 0 {
		used |= byState
	}
	if s.Sample != nil {
		used |= bySample
		c["cfg_sample"] = uint64(s.Sample.Keep) << 32 / uint64(s.Sample.Of)
	}
	for name, list := range s.numbers {
		put(c, name, list)
		used |= bits[name]
	}
	for name, list := range s.ids {
		put(c, name, list)
		used |= bits[name]
	}
	for name, list := range s.patterns {
		put(c, name, list)
		used |= bits[name]
	}
	c["cfg_filters"] = used
	return c
}

func put[T any](c map[string]any, name string, list []T) {
	var values [MaxValues]T
	c["cfg_"+name+"_count"] = uint32(copy(values[:], list))
	c["cfg_"+name] = values
}

// number adds a value that the probes compare as it is.
func (s *Set) number(name string, v uint32) string {
	s.numbers[name] = append(s.numbers[name], v)
	return strconv.FormatUint(uint64(v), 10)
}

// parseNumber reads a decimal number between limits.
func parseNumber(word string, least, most uint64) (uint32, error) {
	v, err := strconv.ParseUint(word, 10, 64)
	if err != nil || v < least || v > most {
		return 0, fmt.Errorf("want a number from %d to %d", least, most)
	}
	return uint32(v), nil
}

// byName finds a value of an enum by its name, in any case.
func byName(e *schema.Enum, word string) (int64, bool) {
	for _, v := range e.Values {
		if strings.EqualFold(v.Name, word) {
			return v.Value, true
		}
	}
	return 0, false
}
