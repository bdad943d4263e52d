package symbolize

import (
	"fmt"
	"strconv"
	"strings"

	"netrec/schema/objfile"
)

// maxText bounds one name: mangled C++ names have no end of their own.
const maxText = 512

// object is the debug file of one build.
type object struct {
	table objfile.Table
	debug *debugInfo // nil where the file has none, or none that is used
	why   string     // it is not
}

// read reads a file that must be of a build.
func (f *Files) read(path, id string) (o *object, err error) {
	file, size, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	// Readers of the standard library give up on some damage by a panic.
	defer func() {
		if p := recover(); p != nil {
			o, err = nil, fmt.Errorf("damaged: %v", p)
		}
	}()
	elf, err := objfile.Open(file, size)
	if err != nil {
		return nil, err
	}
	if got := elf.BuildID(); got != id {
		return nil, fmt.Errorf("its build id is %q, not %s", got, id)
	}
	o = &object{}
	table, failed := elf.Functions()
	if size := int64(table.Bytes()); failed == nil && size > f.room {
		failed = fmt.Errorf("no room for %d bytes of symbols beside those of other files", size)
	} else if failed == nil {
		o.table = table
		f.room -= size
	}
	if o.debug, err = readDebug(elf, &f.room); err == nil {
		return o, nil // functions have their names there, too
	}
	o.why = err.Error()
	return o, failed
}

// lacks says why there are no inlined functions, "" if there are.
func (o *object) lacks() string {
	if o.debug != nil {
		return o.debug.why
	}
	return o.why
}

// frames is the functions at an address, outermost first, the first with the offset of
// addr in it; none if nothing is known.
func (o *object) frames(at, addr uint64) []string {
	fn := o.debug.at(at)
	var out []string
	if e := o.table.Find(at); e != nil {
		out = append(out, label(o.table.Name(e), addr-e.Addr))
	} else if fn.name != "" {
		out = append(out, label(fn.name, addr-fn.low))
	} else {
		return nil
	}
	for _, name := range fn.inlined {
		out = append(out, clean(name)+" (inlined)")
	}
	return out
}

func label(name string, off uint64) string { return clean(name) + "+0x" + strconv.FormatUint(off, 16) }

// clean makes an untrusted name fit for a folded stack; what else may be wrong with it,
// render's encoder shows.
func clean(s string) string {
	s = objfile.Demangle(s)
	s = strings.ToValidUTF8(s[:min(len(s), maxText)], "?")
	return strings.ReplaceAll(s, ";", ":")
}
