package symbol

import (
	"debug/elf"
	"fmt"
	"maps"
	"os"
	"testing"

	"netrec/schema/objfile"
)

// Our reader and the standard library's must agree on a real program and its
// libraries.
func TestELFAgainstStandardLibrary(t *testing.T) {
	pid, _ := start(t, program(t, source))
	list, err := os.Open(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		t.Fatal(err)
	}
	defer list.Close()
	mapped, err := readMaps(list)
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, m := range mapped {
		if !m.isFile() {
			continue
		}
		path := m.path
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		st, _ := f.Stat()
		o, err := objfile.Read(f, st.Size())
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		ef, err := elf.NewFile(f)
		if err != nil {
			t.Fatal(err)
		}
		syms, err := ef.Symbols()
		if err != nil {
			syms, _ = ef.DynamicSymbols()
		}
		want := map[string]bool{}
		for _, s := range syms {
			if ty := elf.ST_TYPE(s.Info); s.Section != elf.SHN_UNDEF && (ty == elf.STT_FUNC || ty == elf.STT_GNU_IFUNC) && s.Name != "" {
				want[s.Name] = true
			}
		}
		got := map[string]bool{}
		for i := range o.Table.Len() {
			got[o.Table.Name(o.Table.At(i))] = true
		}
		if !maps.Equal(got, want) {
			t.Errorf("%s: %d names, the standard library finds %d", path, len(got), len(want))
		}
		compared += len(want)
	}
	if compared < 1000 { // libc alone has more
		t.Errorf("only %d names compared", compared)
	}
}
