package symbolize

import (
	"strconv"
	"strings"
	"sync"

	"netrec/analyze/scan"
	"netrec/schema/objfile"
)

// Bounds of what is remembered and of what is written for one stack.
const (
	maxCached  = 1 << 18  // frames
	maxTexts   = 1 << 16  // stacks
	maxBytes   = 64 << 20 // of their names
	maxLabel   = 128      // bytes of a file's name in notes
	maxAdded   = 64 << 10 // bytes that names may add to a stack
	maxObjects = 1 << 14  // builds that are counted apart
)

// shortID is how many digits of a build id stand in frames where the list has the rest.
const shortID = 8

var ustack = scan.MustStr("ustack")

// Source is a recording whose user stacks are shown with names from debug files. A scan
// names the stacks of the next row group while an analysis counts those of this one, so
// that everything below mu is shared between two goroutines.
type Source struct {
	scan.Source
	saw    func(text string) // takes the stacks of rows; nil where nobody asked
	mu     sync.Mutex
	files  *Files
	ids    map[string]string // build ids by the names that frames have; "" for several
	builds map[string]*build // by id
	order  []*build
	frames map[frame][]string
	bytes  int  // of names in it
	more   bool // frames came after it was full
	texts  map[string]shown
}

// build is one file of code.
type build struct{ id, name string }

// shown is a stack as rows show it: its number, and the frames that had no name on the host.
type shown struct {
	id     int
	frames []frame
}

// frame is an address in a build. All but the innermost frame of a stack are return
// addresses, whose call may be the last instruction of its function.
type frame struct {
	build     *build
	addr      uint64
	innermost bool
}

// New puts debug files in front of a recording. Files may be nil: then stacks stay as they
// are, and Notes says what could be named.
func New(src scan.Source, files *Files) *Source {
	s := &Source{Source: src, files: files, ids: map[string]string{}, builds: map[string]*build{}, frames: map[frame][]string{}, texts: map[string]shown{}}
	for _, o := range src.Meta().Objects {
		if !objfile.IsBuildID(o.BuildID) {
			continue
		}
		if id, ok := s.ids[o.Name]; ok && id != o.BuildID {
			s.ids[o.Name] = ""
		} else {
			s.ids[o.Name] = o.BuildID
		}
	}
	return s
}

// Scan implements scan.Source.
func (s *Source) Scan(q scan.Query, f func(*scan.Row) error) error {
	q.Show = map[scan.Col]func(string) string{ustack.Col(): s.stack}
	if s.saw == nil {
		return s.Source.Scan(q, f)
	}
	return s.Source.Scan(q, func(r *scan.Row) error {
		if r.HasStr(ustack) {
			s.saw(r.Str(ustack))
		}
		return f(r)
	})
}

// stack names what it can of a stack, outermost frame first.
func (s *Source) stack(text string) string {
	if !strings.Contains(text, ")+0x") {
		return text
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	frames := strings.Split(text, ";")
	var b strings.Builder
	var ours []frame
	left := maxAdded
	for i, old := range frames {
		if i > 0 {
			b.WriteByte(';')
		}
		bd, addr, ok := s.parse(old)
		if !ok {
			b.WriteString(old)
			continue
		}
		f := frame{bd, addr, i == len(frames)-1}
		b.WriteString(s.replace(old, f, &left))
		ours = append(ours, f)
	}
	s.remember(b.String(), ours)
	return b.String()
}

// remember keeps which frames a stack has, for a Tally.
func (s *Source) remember(text string, frames []frame) {
	if _, known := s.texts[text]; known || len(frames) == 0 {
		return
	}
	if len(s.texts) == maxTexts {
		s.more = true
		return
	}
	s.texts[text] = shown{len(s.texts), frames}
}

// replace is one frame with its names; left is how many bytes these may still add.
func (s *Source) replace(old string, f frame, left *int) string {
	names := s.names(f)
	if len(names) == 0 {
		return old
	}
	text := strings.Join(names, ";")
	if added := len(text) - len(old); added > 0 {
		if added > *left {
			return old
		}
		*left -= added
	}
	return text
}

// parse reads app(1a2b3c4d)+0x1234.
func (s *Source) parse(text string) (bd *build, addr uint64, ok bool) {
	i := strings.LastIndex(text, ")+0x")
	if i < 0 {
		return nil, 0, false
	}
	name, digits := text[:i+1], text[i+len(")+0x"):]
	open := strings.LastIndexByte(name, '(')
	addr, err := strconv.ParseUint(digits, 16, 64)
	if open < 0 || err != nil || len(digits) == 0 {
		return nil, 0, false
	}
	id, listed := s.ids[name]
	if short := name[open+1 : i]; !listed && objfile.IsBuildID(short) {
		id = short // where the list had no room, the frame has the whole id
	} else if !strings.HasPrefix(id, short) || len(short) < shortID {
		return nil, 0, false
	}
	bd = s.builds[id]
	if bd == nil {
		if len(s.order) == maxObjects {
			return nil, 0, false
		}
		bd = &build{id: id, name: strings.ToValidUTF8(name[:min(open, maxLabel)], "")}
		s.builds[id] = bd
		s.order = append(s.order, bd)
	}
	return bd, addr, true
}

// names is the functions of a frame, outermost first; none if they are not known.
func (s *Source) names(f frame) []string {
	if names, ok := s.frames[f]; ok {
		return names
	}
	var names []string
	if o := s.files.object(f.build.id); o != nil {
		at := f.addr
		if !f.innermost {
			at--
		}
		names = o.frames(at, f.addr)
	}
	for _, n := range names {
		s.bytes += len(n)
	}
	if len(s.frames) == maxCached || s.bytes > maxBytes {
		s.more = true
		return names
	}
	s.frames[f] = names
	return names
}
