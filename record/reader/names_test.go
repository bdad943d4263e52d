package reader_test

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"netrec/record/symbol"
)

// Through the process stacks have the names, and files, that they have without it.
func TestNames(t *testing.T) {
	names := start(t).Names()
	pid := int32(os.Getpid())
	frames := []uint64{uint64(reflect.ValueOf(TestNames).Pointer()), uint64(reflect.ValueOf(hold).Pointer()) + 1, 0x10}
	direct := symbol.NewUser()
	want := symbol.New(nil, direct).Stack(true, pid, frames)
	got := symbol.New(nil, names).Stack(true, pid, frames)
	if got != want || strings.Count(got, "0x10;") != 1 || strings.Count(got, ";0x") != 0 { // but for the first, all are in this program
		t.Errorf("%s, want %s", got, want)
	}
	if a, b := names.Objects(0), direct.Objects(0); !reflect.DeepEqual(a, b) {
		t.Errorf("objects %v, want %v", a, b)
	}
	if names.Program(pid) == 0 || names.Program(pid) != names.Program(pid) {
		t.Error("a process that goes on has a new program")
	}
	if err := names.Trouble(); err != nil {
		t.Error(err)
	}
}

// When the process is gone addresses stay what they are, and it can be said why.
func TestNamesEnd(t *testing.T) {
	r := start(t)
	names := r.Names()
	r.Stop()
	if got := symbol.New(nil, names).Stack(true, int32(os.Getpid()), []uint64{0x10, 0x20}); got != "0x20;0x10" {
		t.Errorf("named %q", got)
	}
	if names.Trouble() == nil {
		t.Error("nothing to say about it")
	}
}
