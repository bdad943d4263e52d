package vmtest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// archive holds the two addresses of a Debian archive.
type archive struct {
	main     string
	security string
}

// errNoArchive says that the machine's apt knows no Debian archive.
var errNoArchive = errors.New("no Debian archive in this machine's apt configuration; " +
	"name one with NETREC_ARCHIVE='MAIN-ADDRESS SECURITY-ADDRESS'")

// hostArchive reads the archive's addresses from the apt configuration under
// root (normally /etc/apt), or from NETREC_ARCHIVE.
func hostArchive(root string) (archive, error) {
	if f := strings.Fields(os.Getenv("NETREC_ARCHIVE")); len(f) == 2 {
		return archive{f[0], f[1]}, nil
	}
	files := []string{filepath.Join(root, "sources.list")}
	for _, pattern := range []string{"*.list", "*.sources"} {
		m, err := filepath.Glob(filepath.Join(root, "sources.list.d", pattern))
		if err != nil {
			return archive{}, fmt.Errorf("listing apt sources: %w", err)
		}
		files = append(files, m...)
	}
	var a archive
	for _, path := range files {
		text, err := os.ReadFile(path)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return archive{}, fmt.Errorf("reading apt sources: %w", err)
		}
		if strings.HasSuffix(path, ".sources") {
			a.addStanzas(string(text))
		} else {
			a.addLines(string(text))
		}
	}
	if a.main == "" || a.security == "" {
		return archive{}, errNoArchive
	}
	return a, nil
}

// debianSuites are the release names under which a Debian archive is known;
// anything else in apt's configuration is somebody else's archive.
var debianSuites = map[string]bool{
	"bullseye": true, "bookworm": true, "trixie": true, "forky": true, "duke": true,
	"oldoldstable": true, "oldstable": true, "stable": true, "testing": true,
	"unstable": true, "sid": true,
}

// add keeps the first main and the first security address.
func (a *archive) add(uri, suite string) {
	release, pocket, _ := strings.Cut(suite, "-")
	if !debianSuites[release] {
		return
	}
	slot := &a.main
	if pocket == "security" {
		slot = &a.security
	}
	if *slot == "" {
		*slot = strings.TrimSuffix(uri, "/")
	}
}

// addLines reads the one-line format: deb [options] address suite component….
func (a *archive) addLines(text string) {
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		line = strings.TrimSpace(line)
		rest, ok := strings.CutPrefix(line, "deb ")
		if !ok {
			continue
		}
		if rest = strings.TrimSpace(rest); strings.HasPrefix(rest, "[") {
			_, rest, _ = strings.Cut(rest, "]")
		}
		if f := strings.Fields(rest); len(f) >= 2 {
			a.add(f[0], f[1])
		}
	}
}

// addStanzas reads the stanza format; continuation lines of URIs and Suites
// count, disabled stanzas do not.
func (a *archive) addStanzas(text string) {
	for stanza := range strings.SplitSeq(text, "\n\n") {
		fields, last := map[string][]string{}, ""
		for line := range strings.Lines(stanza) {
			switch {
			case strings.HasPrefix(line, "#"):
			case strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t"):
				fields[last] = append(fields[last], strings.Fields(line)...)
			default:
				key, value, _ := strings.Cut(line, ":")
				last = strings.ToLower(strings.TrimSpace(key))
				fields[last] = strings.Fields(value)
			}
		}
		if e := fields["enabled"]; len(e) == 1 && strings.EqualFold(e[0], "no") {
			continue
		}
		for _, uri := range fields["uris"] {
			for _, suite := range fields["suites"] {
				a.add(uri, suite)
			}
		}
	}
}

// line is the sources.list line of one suite, signed by Debian's own keys.
func (a archive) line(suite string) string {
	uri := a.main
	if strings.HasSuffix(suite, "-security") {
		uri = a.security
	}
	return fmt.Sprintf("deb [arch=amd64 signed-by=%s] %s %s main\n", archiveKeyring, uri, suite)
}
