package symbol

import (
	"path"
	"strings"
	"unicode/utf8"

	"netrec/schema"
)

// Bounds of the list of files.
const (
	maxListed = 1024
	maxPath   = 1024
)

// shortID is how many digits of a build id stand in frames: enough to tell the builds on a
// host apart, and to be read.
const shortID = 8

// objects lists the files that frames of user stacks lie in, each with the name that it
// has in frames.
//
// That is the base name with the start of the build id, app(1a2b3c4d), so that two builds
// are never taken for one, and one build is the same on every host and in every
// recording. The list has the whole id. Where it cannot, because it is full or another build
// begins with the same digits, the frame has: app(1a2b3c4d5e6f…). A file without a build
// id is its base name alone.
type objects struct {
	list  []schema.Object
	named map[objectKey]string
	taken map[string]bool
}

// objectKey is one build, or one place for a file that says no build.
type objectKey struct{ place, id string }

func newObjects() objects {
	return objects{named: map[objectKey]string{}, taken: map[string]bool{}}
}

// name is what frames of a mapped file begin with, where it has no symbol.
func (l *objects) name(m *mapping, id string) string {
	base := m.base()
	key := objectKey{base, id}
	if id == "" {
		key.place = m.path
	}
	if s, ok := l.named[key]; ok {
		return s
	}
	name := base
	if id != "" {
		name = base + "(" + id[:shortID] + ")"
	}
	full := len(l.list) == maxListed
	if id != "" && (full || l.taken[name]) {
		name = base + "(" + id + ")"
	}
	if full {
		return name
	}
	l.named[key], l.taken[name] = name, true
	l.list = append(l.list, schema.Object{Name: name, Path: plainPath(m.path), BuildID: id})
	return name
}

// plainPath is a path as it can be written down.
func plainPath(s string) string {
	s = path.Clean(strings.TrimSuffix(s, deleted))
	return strings.ToValidUTF8(s[:min(len(s), maxPath)], string(utf8.RuneError))
}

// Objects is the files that frames of user stacks were found in, if they are more than
// those known. The list only grows, and the caller must not change it.
func (u *User) Objects(known int) []schema.Object {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.seen.list) == known {
		return nil
	}
	return u.seen.list[:len(u.seen.list):len(u.seen.list)]
}
