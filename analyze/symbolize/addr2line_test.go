package symbolize

import (
	"bytes"
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"netrec/analyze/engine/eventtext"
	"netrec/schema/objfile"
)

// compile makes programs of testdata/symbols/client.c, or skips where a tool is missing.
func compile(t *testing.T, cc string, flags ...string) string {
	t.Helper()
	for _, tool := range []string{cc, "objcopy", "strip", "addr2line"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("no %s", tool)
		}
	}
	dir := t.TempDir()
	cmd := exec.Command(filepath.Join(testdata, "build.sh"), append([]string{dir}, flags...)...)
	cmd.Env = append(os.Environ(), "CC="+cc)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir
}

// forms are the ways in which compilers write debug information, and binutils pack it.
var forms = []struct {
	name, cc string
	flags    []string
	pack     string
}{
	{"gcc", "gcc", nil, ""},
	{"DWARF 4", "gcc", []string{"-gdwarf-4"}, ""},
	{"fixed address", "gcc", []string{"-no-pie"}, ""},
	{"gaps", "gcc", []string{"-Wl,-z,noseparate-code"}, ""},
	{"zlib", "gcc", nil, "zlib"},
	{"old zlib", "gcc", nil, "zlib-gnu"},
	{"zstd", "gcc", nil, "zstd"},
	{"clang", "clang", nil, ""},
	{"clang, DWARF 4", "clang", []string{"-gdwarf-4"}, ""},
}

// Every address of the program has the functions, inlined ones included, that binutils
// find there.
func TestAddr2line(t *testing.T) {
	for _, f := range forms {
		t.Run(f.name, func(t *testing.T) {
			dir := compile(t, f.cc, f.flags...)
			debug, full := filepath.Join(dir, "client.debug"), filepath.Join(dir, "client.full")
			if f.pack != "" {
				if out, err := exec.Command("objcopy", "--compress-debug-sections="+f.pack, debug).CombinedOutput(); err != nil {
					t.Skipf("objcopy: %v\n%s", err, out)
				}
			}
			addrs := codeOf(t, full)
			want := addr2line(t, full, addrs)
			s := sourceOf(t, full, dir)
			if err := os.Remove(full); err != nil {
				t.Fatal(err)
			}
			inlined := 0
			for i, addr := range addrs {
				got := s.stack(fmt.Sprintf("client(%s)+0x%x", s.Meta().Objects[0].BuildID, addr))
				if plain(got) != want[i] {
					t.Errorf("%#x: %s, addr2line has %s", addr, got, want[i])
				}
				inlined += strings.Count(got, "(inlined)")
			}
			if inlined < 50 {
				t.Errorf("%d addresses, inlined functions at %d only", len(addrs), inlined)
			}
			if notes := s.notes(); len(notes) != 1 || strings.Contains(notes[0], "without inlined") {
				t.Errorf("notes %q", notes)
			}
		})
	}
}

// codeOf is every address in the functions that the source has.
func codeOf(t *testing.T, path string) (addrs []uint64) {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	syms, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range syms {
		if slices.Contains([]string{"main", "repeat", "attempt"}, s.Name) {
			for a := s.Value; a < s.Value+s.Size; a++ {
				addrs = append(addrs, a)
			}
		}
	}
	if len(addrs) < 100 {
		t.Fatalf("only %d bytes of code", len(addrs))
	}
	return addrs
}

// addr2line is what binutils say of each address, outermost function first.
func addr2line(t *testing.T, path string, addrs []uint64) []string {
	t.Helper()
	var in bytes.Buffer
	for _, a := range addrs {
		fmt.Fprintf(&in, "%x\n", a)
	}
	cmd := exec.Command("addr2line", "-afie", path)
	cmd.Stdin = &in
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for block := range strings.SplitSeq("\n"+string(out), "\n0x") {
		lines := strings.Split(strings.TrimSpace(block), "\n") // the address, then name and place by turns
		var names []string
		for i := 1; i < len(lines); i += 2 {
			names = append(names, lines[i])
		}
		if names != nil {
			slices.Reverse(names)
			all = append(all, strings.Join(names, ";"))
		}
	}
	if len(all) != len(addrs) {
		t.Fatalf("%d answers of addr2line for %d addresses", len(all), len(addrs))
	}
	return all
}

// plain is a stack by names alone.
func plain(stack string) string {
	frames := strings.Split(stack, ";")
	for i, f := range frames {
		f, _, _ = strings.Cut(f, "+0x")
		frames[i] = strings.TrimSuffix(f, " (inlined)")
	}
	return strings.Join(frames, ";")
}

// sourceOf is a recording that lists one program, in front of a folder.
func sourceOf(t *testing.T, path, dir string) *Source {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	st, _ := f.Stat()
	o, err := objfile.Open(f, st.Size())
	if err != nil {
		t.Fatal(err)
	}
	src, err := eventtext.Parse(fmt.Sprintf(`{"Objects": [{"name": "client(%s)", "build_id": %[1]q}]}`, o.BuildID()), "")
	if err != nil {
		t.Fatal(err)
	}
	files, err := Open([]string{dir})
	if err != nil {
		t.Fatal(err)
	}
	return New(src, files)
}

// A program that was not stripped serves as well, and one that was is passed over for its
// debug file.
func TestWhichFile(t *testing.T) {
	dir := compile(t, "gcc")
	at := codeOf(t, filepath.Join(dir, "client.full"))[7:8]
	want := addr2line(t, filepath.Join(dir, "client.full"), at)[0]
	for _, files := range [][]string{{"client.full"}, {"client.debug"}, {"client", "client.debug"}, {"client", "client.full"}, {"client"}} {
		only := t.TempDir()
		for _, f := range files {
			copyTo(t, filepath.Join(dir, f), filepath.Join(only, f))
		}
		s := sourceOf(t, filepath.Join(dir, "client"), only)
		raw := fmt.Sprintf("client(%s)+0x%x", s.Meta().Objects[0].BuildID, at[0])
		got := plain(s.stack(raw))
		if len(files) == 1 && files[0] == "client" {
			if !strings.HasPrefix(raw, got) {
				t.Errorf("a stripped program gave %s", got)
			}
		} else if got != want {
			t.Errorf("with %q: %s, want %s", files, got, want)
		}
	}
	// Without debug information there are still functions.
	only := t.TempDir()
	if out, err := exec.Command("strip", "--strip-debug", "-o", filepath.Join(only, "c"), filepath.Join(dir, "client.full")).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	s := sourceOf(t, filepath.Join(dir, "client"), only)
	outer, _, _ := strings.Cut(want, ";")
	if got := plain(s.stack(fmt.Sprintf("client(%s)+0x%x", s.Meta().Objects[0].BuildID, at[0]))); got != outer {
		t.Errorf("by symbols alone: %s, want %s", got, outer)
	}
	if notes := s.notes(); len(notes) != 1 || !strings.HasSuffix(notes[0], "; without inlined functions: the file has no debug information") {
		t.Errorf("notes %q", notes)
	}
}
