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
//	piles             30  30  poolBytes
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

// programPages are those of this program's file that nobody has changed: given back, they are read from
// the file again when they are used. Most belong to reading BTF, ELF and flags. Of a program whose
// addresses are chosen at its start, some of what may not be written now was written then.
func programPages() (list []extent, err error) {
	self, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return nil, err
	}
	maps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		return nil, err
	}
	var last *extent // of the program, if the lines are about it
	for line := range bytes.Lines(maps) {
		var e extent
		var may string
		var changed int
		switch _, err := fmt.Sscanf(string(line), "%x-%x %s", &e.from, &e.to, &may); {
		case err == nil && bytes.HasSuffix(line, []byte(" "+self+"\n")) && (may == "r--p" || may == "r-xp"):
			last = &e
		case err == nil:
			last = nil
		case last != nil && bytes.HasPrefix(line, []byte("Anonymous:")):
			if _, err := fmt.Sscanf(string(line), "Anonymous: %d", &changed); err != nil {
				return nil, fmt.Errorf("mapping %x: %w", last.from, err)
			}
			if changed == 0 {
				list = append(list, *last)
			}
		}
	}
	return list, nil
}
