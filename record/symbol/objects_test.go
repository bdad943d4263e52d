package symbol

import (
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"netrec/schema"
)

// gnuID is the build id as the standard library finds the section.
func gnuID(t *testing.T, path string) string {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b, err := f.Section(".note.gnu.build-id").Data()
	if err != nil || len(b) < 16 {
		t.Fatalf("build id of %s: %x, %v", path, b, err)
	}
	return fmt.Sprintf("%x", b[16:])
}

// The address in a frame is the one that binutils take: given to addr2line with the file
// before it was stripped, it names the function. At a fixed address, and where the linker
// leaves gaps in the file, it is not the offset.
func TestAddressForAddr2line(t *testing.T) {
	for _, tool := range []string{"addr2line", "strip"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("no %s", tool)
		}
	}
	for _, flags := range [][]string{nil, {"-no-pie"}, {"-Wl,-z,noseparate-code"}, {"-Wl,-Ttext-segment=0x5000000", "-no-pie"}} {
		t.Run(strings.Join(flags, " "), func(t *testing.T) {
			bin := program(t, source, flags...)
			whole := bin + ".whole"
			if err := os.Link(bin, whole); err != nil {
				t.Fatal(err)
			}
			if out, err := exec.Command("strip", "-o", bin+".s", bin).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if err := os.Rename(bin+".s", bin); err != nil {
				t.Fatal(err)
			}
			pid, addrs := start(t, bin)
			u := NewUser()
			id := gnuID(t, whole)
			for i, want := range []string{"exported", "hidden"} {
				frame := u.Name(pid, addrs[i]+3)
				addr, ok := strings.CutPrefix(frame, "prog("+id[:shortID]+")+")
				if !ok {
					t.Fatalf("frame %q, build id %s", frame, id)
				}
				out, err := exec.Command("addr2line", "-f", "-e", whole, addr).Output()
				if name, _, _ := strings.Cut(string(out), "\n"); err != nil || name != want {
					t.Errorf("addr2line of %s: %q, %v, want %s", frame, out, err, want)
				}
			}
			list := u.Objects(0)
			if len(list) != 1 || list[0] != (schema.Object{Name: "prog(" + id[:shortID] + ")", Path: bin, BuildID: id}) {
				t.Errorf("objects %+v", list)
			}
			if more := u.Objects(1); more != nil {
				t.Errorf("nothing new, and yet %+v", more)
			}
		})
	}
}

// Two builds of one name have different names in frames; the same build elsewhere has not.
func TestBuildsOfOneName(t *testing.T) {
	first, second := program(t, source, "-s"), program(t, strings.Replace(source, "x + 1", "x + 7", 1), "-s")
	same := filepath.Join(t.TempDir(), "prog")
	b, err := os.ReadFile(first)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(same, b, 0o755); err != nil {
		t.Fatal(err)
	}
	u := NewUser()
	var names []string
	for _, bin := range []string{first, second, same} {
		pid, addrs := start(t, bin)
		name, _, _ := strings.Cut(u.Name(pid, addrs[0]), "+")
		names = append(names, name)
	}
	if names[0] == names[1] || names[0] != names[2] || len(u.Objects(0)) != 2 {
		t.Errorf("names %q, objects %+v", names, u.Objects(0))
	}
}

// A frame always tells the whole id, by the list or by itself: also for a build whose id
// begins as another's, and when the list is full.
func TestNamesOfObjects(t *testing.T) {
	l := newObjects()
	id := func(n int) string { return fmt.Sprintf("%016x", n) }
	at := func(path string) *mapping { return &mapping{path: path} }
	if got := l.name(at("/a/app"), id(1)); got != "app(00000000)" {
		t.Errorf("first %q", got)
	}
	if got := l.name(at("/b/app"), id(2)); got != "app("+id(2)+")" {
		t.Errorf("same digits, another build: %q", got)
	}
	if got := l.name(at("/b/app (deleted)"), id(1)); got != "app(00000000)" || len(l.list) != 2 {
		t.Errorf("the first again: %q, %d listed", got, len(l.list))
	}
	if got := l.name(at("/a/plain;\x01"), ""); got != "plain:?" {
		t.Errorf("without an id %q", got)
	}
	for i := range 2 * maxListed {
		l.name(at("/x/"+strconv.Itoa(i)), "ab"+id(i))
	}
	if got := l.name(at("/y/new"), "ff"+id(9)); got != "new(ff"+id(9)+")" || len(l.list) != maxListed || len(l.named) != maxListed {
		t.Errorf("when the list is full: %q, %d listed, %d named", got, len(l.list), len(l.named))
	}
}
