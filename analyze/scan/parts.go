package scan

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"syscall"

	"netrec/schema"
)

// part is what is kept of a file of several until it is scanned: where it belongs and
// what it adds to the whole.
type part struct {
	path        string
	origin      origin
	index       int // 0 for a file that does not say
	first, last int64
	size        int64
	stored      int64
	rows        map[string]int64
	losses      []schema.Count // by event
	end         string
	problems    []string
	o           Options
}

// origin is what files must have in common to be of one recording. A kernel address
// means nothing beyond it.
type origin struct{ host, boot, id string }

func (p *part) open() (*File, error) { return Open(p.path, p.o) }

// OpenAll opens files and puts those of one recording together; files of different
// hosts, boots or recordings stay apart, and so do those on both sides of a missing
// one. A file that cannot be read is left out, and its error is one of bad. Recordings
// are in the order of host and time; each is to be loaded before it is used, and closed
// after that.
func OpenAll(paths []string, limits Options) (all []*Recording, bad []error) {
	if len(paths) == 1 {
		f, err := Open(paths[0], limits)
		if err != nil {
			return nil, []error{err}
		}
		r := &Recording{o: limits}
		r.be(f)
		return []*Recording{r}, nil
	}
	paths, bad = distinct(paths)
	groups := map[origin][]*part{}
	var origins []origin // in the order of the files, as errors are
	for _, path := range paths {
		p, err := look(path, limits)
		if err != nil {
			bad = append(bad, err)
			continue
		}
		if groups[p.origin] == nil {
			origins = append(origins, p.origin)
		}
		groups[p.origin] = append(groups[p.origin], p)
	}
	for _, o := range origins {
		runs, doubles := chain(groups[o])
		bad = append(bad, doubles...)
		for _, run := range runs {
			all = append(all, &Recording{parts: run, o: limits})
		}
	}
	slices.SortFunc(all, func(a, b *Recording) int {
		p, q := a.parts[0], b.parts[0]
		return cmp.Or(cmp.Compare(p.origin.host, q.origin.host), cmp.Compare(p.first, q.first), cmp.Compare(p.path, q.path))
	})
	return all, bad
}

// distinct leaves out names of files that were named before.
func distinct(paths []string) (out []string, bad []error) {
	type id struct{ dev, ino uint64 }
	seen := map[id]bool{}
	for _, path := range paths {
		st, err := os.Stat(path)
		if err != nil {
			bad = append(bad, err)
			continue
		}
		var k id
		if k.dev, k.ino = inode(st); k.ino != 0 && seen[k] {
			continue
		}
		seen[k] = true
		out = append(out, path)
	}
	return out, bad
}

// inode is what names of one file have in common; 0 where the system does not say.
func inode(st os.FileInfo) (dev, ino uint64) {
	if s, ok := st.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Dev), s.Ino
	}
	return 0, 0
}

// look opens a file and keeps what its place in a recording needs.
func look(path string, o Options) (*part, error) {
	f, err := Open(path, o)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m := f.Meta()
	p := &part{path: path, o: o, size: m.Size, stored: m.Stored, first: m.FirstNS, last: m.LastNS, rows: m.Rows, losses: byEvent(m.Losses),
		end: m.Recording.End, problems: m.Problems, origin: origin{m.Host.Name, m.Host.BootID, path}}
	if part := m.Recording.Part; part != nil && part.ID != "" {
		p.origin.id, p.index = part.ID, part.Index
	}
	return p, nil
}

// byEvent sums an account over CPUs.
func byEvent(counts []schema.Count) []schema.Count {
	var out []schema.Count
	at := map[string]int{}
	for _, c := range counts {
		i, ok := at[c.Event]
		if !ok {
			i = len(out)
			at[c.Event] = i
			out = append(out, schema.Count{Event: c.Event, CPU: -1})
		}
		out[i].Add(c)
	}
	return out
}

// chain puts the files of one recording in order and cuts where one is missing. Of
// files that say they are the same part, all but the first are left out.
func chain(parts []*part) (runs [][]*part, doubles []error) {
	slices.SortStableFunc(parts, func(a, b *part) int {
		return cmp.Or(cmp.Compare(a.index, b.index), cmp.Compare(a.path, b.path))
	})
	var run []*part
	for _, p := range parts {
		if n := len(run); n > 0 && p.index <= run[n-1].index {
			doubles = append(doubles, fmt.Errorf("open %s: the same part of the recording as %s, left out", p.path, run[n-1].path))
			continue
		} else if n > 0 && p.index != run[n-1].index+1 {
			runs, run = append(runs, run), nil
		}
		run = append(run, p)
	}
	return append(runs, run), doubles
}

// has reports whether the file has an event that is selected.
func (p *part) has(s *selection) bool {
	for name, n := range p.rows {
		if e := s.all[name]; e != nil && n > 0 && s.wants(e) {
			return true
		}
	}
	return false
}
