package objfile

import (
	"strings"

	"github.com/ianlancetaylor/demangle"
)

// Bounds of a name that a compiler has mangled: the names are anybody's, and what is in
// them may repeat itself without end.
const (
	maxMangled = 2048
	maxPlain   = 10 // as a power of two: bytes of what it stands for
)

// Demangle is a name of C++ or Rust as its source has it, without parameters, as perf shows
// it. Other names stay as they are.
func Demangle(name string) string {
	if !strings.HasPrefix(name, "_Z") && !strings.HasPrefix(name, "_R") || len(name) > maxMangled {
		return name
	}
	return demangle.Filter(name, demangle.NoParams, demangle.MaxLength(maxPlain))
}
