package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"netrec/analyze"
	"netrec/analyze/engine"
)

// maxFiles bounds what one call looks at: a directory given by mistake ends in words,
// not in an hour of opening files.
const maxFiles = 1 << 16

// expand makes a list of files of what the user named: files as they are, directories
// with every capture below them, patterns with what they match.
func expand(words []string) ([]string, error) {
	var out []string
	for _, w := range words {
		found, err := expandOne(w)
		if err != nil {
			return nil, err
		}
		if out = append(out, found...); len(out) > maxFiles {
			return nil, fmt.Errorf("more than %d files", maxFiles)
		}
	}
	return out, nil
}

func expandOne(word string) ([]string, error) {
	st, err := os.Stat(word)
	switch {
	case err == nil && st.IsDir():
		return below(word)
	case err == nil:
		return []string{word}, nil
	case !strings.ContainsAny(word, `*?[`):
		return nil, unreadable{hinted{err, nearby(word)}}
	}
	matches, err := filepath.Glob(word)
	if err != nil {
		return nil, &engine.UsageError{Msg: fmt.Sprintf("%s: %v", word, err)}
	}
	if len(matches) == 0 {
		return nil, unreadable{hinted{fmt.Errorf("%s: no file matches", word), "a directory stands for every *.parquet below it"}}
	}
	var out []string
	for _, m := range matches {
		if st, err := os.Stat(m); err == nil && st.IsDir() {
			found, err := below(m)
			if err != nil {
				return nil, err
			}
			out = append(out, found...)
			continue
		}
		out = append(out, m) // what cannot be read is said when it is opened
	}
	return out, nil
}

// apart refuses an output that is one of the files that are read, by whatever name or link: it
// would be emptied before, or be replaced after that.
func apart(output string, inputs []string) error {
	out, err := os.Stat(output)
	if output == "" || err != nil {
		return nil // nothing is there yet, or opening it says what is wrong
	}
	for _, path := range inputs {
		if in, err := os.Stat(path); err == nil && os.SameFile(in, out) {
			return hinted{fmt.Errorf("write %s: it is the recording %s", output, path), "name another file with -o"}
		}
	}
	return nil
}

// below lists the captures in a directory and all in it. Names that begin with a dot or
// an underscore are of programs that are not done with them.
func below(dir string) ([]string, error) {
	// The slash follows a link, such as the one that systemd makes for a service's state.
	root := strings.TrimRight(dir, string(filepath.Separator)) + string(filepath.Separator)
	var out []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := d.Name(); path != root && (name[0] == '.' || name[0] == '_') {
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		if !d.IsDir() && strings.HasSuffix(path, ".parquet") {
			out = append(out, path)
		}
		if len(out) > maxFiles {
			return fmt.Errorf("more than %d captures in %s", maxFiles, dir)
		}
		return nil
	})
	switch {
	case err != nil:
		return nil, unreadable{err}
	case len(out) == 0:
		return nil, unreadable{fmt.Errorf("%s: a directory without captures (*.parquet)", dir)}
	}
	return out, nil
}

// nearby is a hint for a file that is not there: an analysis or a file of nearly that
// name.
func nearby(path string) string {
	if s := engine.SuggestAnalysis(analyze.All(), path); s != "" {
		return fmt.Sprintf("did you mean the analysis %s? netrec analyze FILE %s", s, s)
	}
	dir, name := filepath.Split(path)
	entries, err := os.ReadDir(filepath.Clean("./" + dir))
	if filepath.IsAbs(dir) {
		entries, err = os.ReadDir(dir)
	}
	if err != nil {
		return ""
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() || strings.HasSuffix(e.Name(), ".parquet") {
			names = append(names, e.Name())
		}
	}
	if s := engine.Suggest(name, names); s != "" {
		return fmt.Sprintf("did you mean %s?", dir+s)
	}
	return ""
}
