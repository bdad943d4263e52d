package symbolize

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"netrec/analyze/engine/eventtext"
	"netrec/analyze/scan"
)

// client.debug of testdata/symbols: its build id, and addresses in it.
const (
	testdata  = "../../testdata/symbols"
	clientID  = "a3c0b62fe90b797ef7d65c8e2eac398160a88041"
	inMain    = "client(a3c0b62f)+0x10c6"
	inRepeat  = "client(a3c0b62f)+0x1278"
	inAttempt = "client(a3c0b62f)+0x1232"
	innermost = "attempt+0x52;open_and_dial (inlined);dial (inlined);enter (inlined)"
)

// named is a recording that knows the client's build, in front of folders.
func named(t *testing.T, dirs ...string) *Source {
	t.Helper()
	src, err := eventtext.Parse(`{"Objects": [
		{"name": "client(a3c0b62f)", "path": "/opt/client", "build_id": "`+clientID+`"},
		{"name": "other(a3c0b62f)", "path": "/opt/other", "build_id": "a3c0b62f00000000000000000000000000000000"},
		{"name": "bare", "path": "/opt/bare"},
		{"name": "torn(12345678)", "path": "/opt/torn", "build_id": "1234567890abcdef"},
		{"name": "torn(12345678)", "path": "/opt/torn", "build_id": "12345678ffffffff"}]}`,
		"+1ms sys_connect ustack="+inMain+";"+inRepeat+";"+inAttempt)
	if err != nil {
		t.Fatal(err)
	}
	var files *Files
	if dirs != nil {
		if files, err = Open(dirs); err != nil {
			t.Fatal(err)
		}
	}
	return New(src, files)
}

func TestStacksAsTheyAreRead(t *testing.T) {
	s := named(t, testdata)
	n := 0
	err := s.Scan(scan.Query{Columns: []scan.Col{ustack.Col()}}, func(r *scan.Row) error {
		n++
		if got, want := r.Str(ustack), "main+0x46;repeat+0x28;"+innermost; got != want {
			t.Errorf("stack %s, want %s", got, want)
		}
		return nil
	})
	if err != nil || n != 1 {
		t.Errorf("%d rows, %v", n, err)
	}
}

func TestFrames(t *testing.T) {
	s := named(t, testdata)
	for in, want := range map[string]string{
		inAttempt:                             innermost,
		inAttempt + ";" + inAttempt:           innermost + ";" + innermost,
		"client(" + clientID + ")+0x1250":     "repeat+0x0",                // a frame that has the whole id
		"client(a3c0b62f)+0x1250;x":           "client(a3c0b62f)+0x1250;x", // a return address behind the last function before it
		"client(a3c0b62f)+0x0":                "client(a3c0b62f)+0x0",
		"client(a3c0b62f)+0xffffffffffffffff": "client(a3c0b62f)+0xffffffffffffffff",
		"main+0x10c6":                         "main+0x10c6",
		"bare+0x10c6":                         "bare+0x10c6",
		"other(a3c0b62f)+0x10c6":              "other(a3c0b62f)+0x10c6",    // the same digits, another build
		"client(a7971e98)+0x10c6":             "client(a7971e98)+0x10c6",   // no such build in the list
		"nobody(a3c0b62f)+0x10c6":             "nobody(a3c0b62f)+0x10c6",   // the digits alone are not the id
		"torn(12345678)+0x10c6":               "torn(12345678)+0x10c6",     // the list contradicts itself
		"main.(*T).f(a3c0b62f)+0x1":           "main.(*T).f(a3c0b62f)+0x1", // nothing of ours
		"client(a3c0b62f)+0x":                 "client(a3c0b62f)+0x",
		"client(a3c0b62f)+0xxyz":              "client(a3c0b62f)+0xxyz",
		")+0x1":                               ")+0x1",
		"()+0x1;(+0x;)+0x12;;":                "()+0x1;(+0x;)+0x12;;",
		"":                                    "",
	} {
		if got := s.stack(in); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

// What was named and what was not is said, with the reason.
func TestNotes(t *testing.T) {
	missing := t.TempDir()
	for _, tt := range []struct {
		dirs []string
		want string
	}{
		{nil, "without a name: 2 frames of client, build id " + clientID + "; --symbols DIR names them, if DIR has the debug file"},
		{[]string{missing}, "without a name: 2 frames of client, build id " + clientID + "; no debug file of it in " + missing},
		{[]string{missing, testdata}, "named from a debug file: 1 frame of client, build id " + clientID + "\n" +
			"without a name: 1 frame of client, build id " + clientID + "; the file of it that was found has no function there"},
	} {
		s := named(t, tt.dirs...)
		for range 3 { // frames are counted once
			s.stack(inMain + ";x")
			s.stack("client(a3c0b62f)+0x1")
		}
		if got := strings.Join(s.notes(), "\n"); got != tt.want {
			t.Errorf("in %q:\n%s\nwant\n%s", tt.dirs, got, tt.want)
		}
	}
}

// A scan names the stacks of the next row group while the answer counts those of this one.
func TestCountedWhileNamed(t *testing.T) {
	s := named(t, testdata)
	tally := s.Tally()
	text := func(i int) string { return fmt.Sprintf("client(a3c0b62f)+0x%x", i) }
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 20000 {
			s.stack(text(i))
		}
	}()
	for i := range 20000 {
		tally.Add(text(i))
	}
	<-done
	for i := range 20000 {
		tally.Add(s.stack(text(i)))
	}
	if n := int64(20000); tally.named[s.order[0]]+tally.unnamed[s.order[0]] != n {
		t.Errorf("%d named and %d unnamed frames, want %d together", tally.named[s.order[0]], tally.unnamed[s.order[0]], n)
	}
}

// notes are those of all stacks that were shown.
func (s *Source) notes() []string {
	t := s.Tally()
	for text := range s.texts {
		t.Add(text)
	}
	return t.Notes()
}

func copyTo(t *testing.T, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, b, 0o644); err != nil {
		t.Fatal(err)
	}
}

// A debug file is found in the places that debuggers use and anywhere else below the
// folder, whatever its name.
func TestPlaces(t *testing.T) {
	debug := filepath.Join(testdata, "client.debug")
	name := clientID[:2] + "/" + clientID[2:] + ".debug"
	for _, place := range []string{".build-id/" + name, "usr/lib/debug/.build-id/" + name, name, "a/b/c/something else"} {
		dir := t.TempDir()
		copyTo(t, debug, filepath.Join(dir, place))
		if got := named(t, t.TempDir(), dir).stack(inAttempt); got != innermost {
			t.Errorf("in %s: %s", place, got)
		}
	}
	if _, err := Open([]string{debug}); err == nil {
		t.Error("a file was taken for a folder")
	}
	if _, err := Open([]string{filepath.Join(t.TempDir(), "none")}); err == nil {
		t.Error("a folder that is not there was taken")
	}
}

// A file of another build is refused, also where the name promises the right one.
func TestWrongBuild(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, ".build-id", clientID[:2], clientID[2:]+".debug")
	copyTo(t, filepath.Join(testdata, "client.debug"), path)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	i := strings.Index(string(b), "GNU\x00\xa3\xc0")
	b[i+4] ^= 1
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
	s := named(t, dir)
	if got := s.stack(inAttempt); got != inAttempt {
		t.Errorf("named %s by a file of another build", got)
	}
	notes := strings.Join(s.notes(), "\n")
	if want := fmt.Sprintf("not used: %s: its build id is %q, not %s", path, "a2"+clientID[2:], clientID); !strings.Contains(notes, want) {
		t.Errorf("notes %s, want %s", notes, want)
	}
}

// Names cannot make a stack grow without end.
func TestLongStacks(t *testing.T) {
	s := named(t, testdata)
	in := strings.Repeat(inAttempt+";", 5000) + inAttempt
	got := s.stack(in)
	if len(got) > len(in)+maxAdded || !strings.HasPrefix(got, innermost) || !strings.HasSuffix(got, inAttempt) {
		t.Errorf("%d bytes became %d", len(in), len(got))
	}
}
