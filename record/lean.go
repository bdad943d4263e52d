package record

import (
	"bytes"
	"fmt"
	"os"
	"runtime/debug"

	"golang.org/x/sys/unix"
)

// What a recording has resident, in MiB, on a host with two CPUs; the first is what busy servers take,
// the second the most. Nothing of it grows with the length of a recording or of a file.
//
//	rings             21  21  --buffer; they are mapped once
//	program           11  11  its pages that a recording uses
//	piles             24  24  poolBytes
//	encoder            9  16  scratchBytes, from one commit to the next
//	kernel's symbols   7   7  more where the kernel has more
//	stacks             1   4  symbol.maxCacheBytes
//	file               2   5  the commit being built, packing; twice while one is closed
//	tables, metadata   5   6  made at the start; sockets alive then
//	collector          8  11  leanGC of the five above, its own tables, what is between spans
//
// A flood in which every address or name is another one takes more, for as long as it is encoded.

// leanGC is how far the heap may grow between two collections, in percent: rows take nothing
// from it, so collections are few, and memory is other people's.
const leanGC = 15

// lean gives back what only the start needed, which is far more than the recording does.
func lean() {
	debug.FreeOSMemory()
	pages, _ := programPages() // whoever cannot know them keeps them
	for _, p := range pages {
		_, _, _ = unix.Syscall(unix.SYS_MADVISE, p.from, p.to-p.from, unix.MADV_DONTNEED)
	}
}

// extent is a part of this process's memory.
type extent struct{ from, to uintptr }

// programPages are those of this program's file that nobody can have changed: given back, they are read
// from the file again when they are used. Most belong to reading BTF, ELF and flags.
func programPages() (list []extent, err error) {
	self, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return nil, err
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return nil, err
	}
	for line := range bytes.Lines(maps) {
		if !bytes.HasSuffix(line, []byte(" "+self+"\n")) {
			continue
		}
		var e extent
		var may string
		if _, err := fmt.Sscanf(string(line), "%x-%x %s", &e.from, &e.to, &may); err != nil {
			return nil, fmt.Errorf("mapping %q: %w", line, err)
		}
		if may == "r--p" || may == "r-xp" {
			list = append(list, e)
		}
	}
	return list, nil
}
