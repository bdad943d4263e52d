package symbolize

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"netrec/schema/objfile"
)

// Bounds of the search for files: a folder given by mistake ends in words, not in an hour.
const (
	maxLooked   = 1 << 16 // entries of all folders
	maxSame     = 8       // files of one build that are tried
	maxProblems = 4
)

// Files is debug files in folders, found by build id. A nil *Files has none.
type Files struct {
	dirs    []string
	index   map[string][]string // paths by build id; nil before it was needed
	looked  int
	objects map[string]*object // by build id; nil for one that is not there
	room    int64              // bytes of symbols and debug information that may still be read
	trouble []string
}

// Open takes folders with debug files. They are searched when a build is asked for.
func Open(dirs []string) (*Files, error) {
	for _, dir := range dirs {
		st, err := os.Stat(dir)
		if err != nil {
			return nil, err
		}
		if !st.IsDir() {
			return nil, fmt.Errorf("%s: not a folder", dir)
		}
	}
	return &Files{dirs: dirs, objects: map[string]*object{}, room: maxDebug}, nil
}

// object is what the folders have of a build, nil for nothing.
func (f *Files) object(id string) *object {
	if f == nil {
		return nil
	}
	o, ok := f.objects[id]
	if !ok {
		o = f.load(id)
		f.objects[id] = o
	}
	return o
}

// load takes the first file of a build that has debug information, else the one with the
// most functions.
func (f *Files) load(id string) *object {
	best := f.choose(nil, id, f.usual(id))
	if best == nil || best.debug == nil {
		best = f.choose(best, id, f.found(id))
	}
	return best
}

func (f *Files) choose(best *object, id string, paths []string) *object {
	for _, path := range paths[:min(len(paths), maxSame)] {
		o, err := f.read(path, id)
		if err != nil {
			if !errors.Is(err, fs.ErrNotExist) {
				f.tell(fmt.Sprintf("not used: %s: %v", path, err))
			}
			continue
		}
		if best == nil || o.debug != nil || best.debug == nil && o.table.Len() > best.table.Len() {
			best = o
		}
		if best.debug != nil {
			break
		}
	}
	return best
}

// usual is where debuggers look for a build.
func (f *Files) usual(id string) (paths []string) {
	name := filepath.Join(id[:2], id[2:])
	for _, dir := range f.dirs {
		for _, below := range []string{".build-id", "usr/lib/debug/.build-id", ""} {
			paths = append(paths, filepath.Join(dir, below, name+".debug"))
		}
	}
	return paths
}

// found is every file of a build in the folders, whatever its name.
func (f *Files) found(id string) []string {
	if f.index == nil {
		f.index = map[string][]string{}
		for _, dir := range f.dirs {
			f.walk(dir)
		}
	}
	return f.index[id]
}

var errEnough = errors.New("enough")

// walk notes the builds of all files below a folder.
func (f *Files) walk(dir string) {
	err := filepath.WalkDir(dir+string(filepath.Separator), func(path string, d fs.DirEntry, err error) error {
		if f.looked++; f.looked > maxLooked {
			return errEnough
		}
		if err != nil || !d.Type().IsRegular() {
			return nil // a folder that may not be read has no files
		}
		if id := buildOf(path); id != "" && len(f.index[id]) < maxSame {
			f.index[id] = append(f.index[id], path)
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		f.tell(fmt.Sprintf("%s: only the first %d files were looked at", dir, maxLooked))
	}
}

// buildOf is the build id of a file, "" if it has none.
func buildOf(path string) string {
	f, size, err := openRegular(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	o, err := objfile.Open(f, size)
	if err != nil {
		return ""
	}
	return o.BuildID()
}

// openRegular opens a file, and nothing that could make it wait.
func openRegular(path string) (*os.File, int64, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, 0, err
	}
	st, err := f.Stat()
	if err == nil && !st.Mode().IsRegular() {
		err = errors.New("not a regular file")
	}
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, st.Size(), nil
}

// tell keeps what was wrong with files, to be said once.
func (f *Files) tell(text string) {
	if len(f.trouble) < maxProblems {
		f.trouble = append(f.trouble, text)
	}
}

func (f *Files) problems() []string {
	if f == nil {
		return nil
	}
	return f.trouble
}
