package place

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Plan says where files go and what they are called.
type Plan struct {
	Dir  string // made if it is not there
	Host string // files lie in dt=DATE/host=HOST below Dir; "" for Dir itself
	Stem string // of the name, before the time
	Ext  string // of the name
	Keep int    // how many files stay, of this and earlier recordings; 0 for all

	// First is the number of the first file, where names have numbers in place of times; 0 for times.
	First int
}

// Timed is the plan of files beside path, whose names are path's with the time in it.
func Timed(path string, keep int) Plan {
	dir, name := filepath.Split(path)
	return Plan{Dir: filepath.Clean("./" + dir), Stem: strings.TrimSuffix(name, filepath.Ext(name)) + "-", Ext: extension, Keep: keep}.absolute(dir)
}

// After is the plan of the files that come after path, which somebody else makes: cap.2.parquet
// after cap.parquet, and so on. Numbers in use are passed over.
func After(path string) Plan {
	dir, name := filepath.Split(path)
	ext := filepath.Ext(name)
	return Plan{Dir: filepath.Clean("./" + dir), Stem: strings.TrimSuffix(name, ext) + ".", Ext: ext, First: 2}.absolute(dir)
}

func (p Plan) absolute(dir string) Plan {
	if filepath.IsAbs(dir) {
		p.Dir = filepath.Clean(dir)
	}
	return p
}

// Hive is the plan of a directory that is partitioned by day and host.
func Hive(dir, host string, keep int) Plan {
	return Plan{Dir: dir, Host: SafeHost(host), Ext: extension, Keep: keep}
}

const (
	extension = ".parquet"
	layout    = "20060102T150405.000Z" // UTC; sorts by time, and has no colon for file systems that refuse it
	unnamed   = ".new"                 // ends the hidden name of a file that is not whole yet
	dayLayout = "2006-01-02"
	dirMode   = 0o700
	fileMode  = 0o600
)

// name is the name of a file that begins at a time, after so many others.
func (p *Plan) name(at time.Time, before int) string {
	if p.First > 0 {
		return p.Stem + strconv.Itoa(p.First+before) + p.Ext
	}
	return p.Stem + at.UTC().Format(layout) + p.Ext
}

// folders are the directories below Dir that the file lies in.
func (p *Plan) folders(at time.Time) []string {
	if p.Host == "" {
		return nil
	}
	return []string{"dt=" + at.UTC().Format(dayLayout), p.hostFolder()}
}

func (p *Plan) hostFolder() string { return "host=" + p.Host }

var day = regexp.MustCompile(`^dt=\d{4}-\d{2}-\d{2}$`)

// ours recognizes names that this plan makes.
func (p *Plan) ours() *regexp.Regexp {
	tells := `\d{8}T\d{6}\.\d{3}Z`
	if p.First > 0 {
		tells = `[1-9]\d*`
	}
	return regexp.MustCompile("^" + regexp.QuoteMeta(p.Stem) + tells + regexp.QuoteMeta(p.Ext) + "$")
}

// maxHost is the longest name of a host in a path; the kernel's is 64.
const maxHost = 64

// SafeHost makes the name of a directory of a host's name: letters, digits, dots,
// dashes and underscores, and no dot in front. Whoever may set the host's name shall
// not choose where files go.
func SafeHost(name string) string {
	safe := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '-', r == '_':
			return r
		}
		return '_'
	}, name)
	if len(safe) > maxHost {
		safe = safe[:maxHost]
	}
	if strings.HasPrefix(safe, ".") {
		safe = "_" + safe[1:]
	}
	if safe == "" {
		safe = "unknown"
	}
	return safe
}

// make opens the directory. What is not there of its path is made, private to its user,
// and handed to owner.
func (p *Plan) make(owner func(f *os.File) error) (*os.File, error) {
	var missing []string
	for dir := filepath.Clean(p.Dir); ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(dir); !os.IsNotExist(err) {
			break // it is there, or the next step says what is wrong
		}
		missing = append(missing, dir)
	}
	for _, dir := range slices.Backward(missing) {
		if err := os.Mkdir(dir, dirMode); err != nil {
			return nil, fmt.Errorf("make a place for captures: %w", err)
		}
		if err := with(dir, owner); err != nil {
			return nil, fmt.Errorf("make a place for captures: %w", err)
		}
	}
	f, err := openDir(p.Dir)
	if err != nil {
		return nil, fmt.Errorf("open the place for captures: %w", err)
	}
	return f, nil
}

// with calls f for a directory that was just made.
func with(dir string, f func(*os.File) error) error {
	d, err := openDir(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return f(d)
}

func openDir(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|unix.O_DIRECTORY, 0)
}
