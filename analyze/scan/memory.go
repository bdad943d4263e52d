package scan

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"runtime/metrics"

	"netrec/analyze/parquetfile"
)

// program is what the program takes without a file: code, and what the runtime keeps for
// itself and does not count.
const program = 32 << 20

// How the rest of Options.Memory is shared out, in sixteenths. What is left is for tables that
// are copied as they grow, and for what answers take when the last row is known.
const (
	decodedShare = 6 // rows of the same time, as they are decoded
	keptShare    = 5 // what is kept of the rows before them
	garbageShare = 1 // what may be dead before the heap is looked at closely
)

// Memory that a process may use where nobody says how much.
const (
	leastMemory   = 512 << 20
	memoryPerByte = 8 // of the file
)

// How many rows are handed out between two looks at the heap, of which each takes some
// microseconds: while less than half of the share is in use, and then. A row takes a few hundred
// bytes of each analysis that keeps it; so many bytes of strings count as one.
const (
	lookEvery   = 1 << 12
	lookOften   = 1 << 10
	textPerLook = 1 << 8
)

// Full is the error of a scan that ended before its last row: what was made of the rows so far
// fills the memory that there is.
type Full struct {
	At    int64 // ts_ns of the last row that was handed out; 0 for none
	Limit int64 // bytes
}

func (f *Full) Error() string {
	return fmt.Sprintf("the memory limit of %s was reached", size(f.Limit))
}

// Is makes it one of the limits that a file may be larger than.
func (f *Full) Is(target error) bool { return target == ErrLimit }

// Hint is the second line of the error.
func (f *Full) Hint() string { return f.more() }

func (f *Full) more() string { return "--memory " + short(4*f.Limit) + " gives it more" }

// Part says how much of a time was read.
func (f *Full) Part(from, to int64) string {
	all := float64(max(to-from, 0)) / 1e9
	digits := 1
	if all < 10 {
		digits = 3
	}
	read := min(float64(max(f.At-from, 0))/1e9, all)
	return fmt.Sprintf("from the first %.*f s of %.*f s: %s; %s", digits, read, digits, all, f.Error(), f.more())
}

// Err is the error, nil if there is none.
func (f *Full) Err() error {
	if f == nil {
		return nil
	}
	return f
}

// Fitted takes a scan that memory ended for one that came to its end: full says where, and err
// is any other error.
func Fitted(scanned error) (full *Full, err error) {
	if full, ok := errors.AsType[*Full](scanned); ok {
		return full, nil
	}
	return nil, scanned
}

// size is bytes for people, short as an option takes them.
func size(n int64) string {
	if n >= 1<<30 && n%(1<<30) == 0 {
		return fmt.Sprintf("%d GiB", n>>30)
	}
	return fmt.Sprintf("%d MiB", n>>20)
}

func short(n int64) string {
	if n >= 1<<30 {
		return fmt.Sprintf("%dG", n>>30)
	}
	return fmt.Sprintf("%dM", max(n>>20, 1))
}

// defaultMemory is the budget for files of a size.
func defaultMemory(size int64) int64 {
	return max(leastMemory, memoryPerByte*min(size, math.MaxInt64/memoryPerByte))
}

// newPool is the memory of decoded rows.
func newPool(o *Options) *parquetfile.Pool {
	of := o.Memory
	return parquetfile.NewPool(o.MaxMemory, func() error { return &Full{Limit: of} })
}

// share is so many sixteenths of a limit of the process.
func share(limit, parts int64) int64 { return max(limit-program, program) / 16 * parts }

// Collected is the part of a limit that the garbage collector may let objects take.
func Collected(limit int64) int64 { return share(limit, 16) }

// heapWatch looks at what is kept of rows. It is the one place that bounds the memory of whatever
// reads them, with whatever tables of its own.
type heapWatch struct {
	limit   int64 // of the process
	decoded *parquetfile.Pool
	next    int64 // look closely when so many bytes are kept or dead
	due     int   // rows until the next look
	objects [1]metrics.Sample
}

func watchHeap(limit int64, decoded *parquetfile.Pool) *heapWatch {
	h := &heapWatch{limit: limit, decoded: decoded, next: share(limit, keptShare)}
	h.objects[0].Name = "/memory/classes/heap/objects:bytes"
	return h
}

// bytes is what objects take that are no decoded rows, dead ones included.
func (h *heapWatch) bytes() int64 {
	metrics.Read(h.objects[:])
	return int64(h.objects[0].Value.Uint64()) - h.decoded.InUse()
}

// full reports whether what is kept has its share. It costs little until there are so many
// objects, and then a collection for each share of garbage.
func (h *heapWatch) full() bool {
	bytes := h.bytes()
	if h.due = lookOften; bytes < h.next/2 {
		h.due = lookEvery
	}
	if bytes < h.next {
		return false
	}
	runtime.GC()
	kept, most := h.bytes(), share(h.limit, keptShare)
	h.next = max(most, kept+share(h.limit, garbageShare))
	return kept > most
}

// handed reports whether memory is full after a row, if it is time to look.
func (h *heapWatch) handed() bool {
	h.due--
	return h.due <= 0 && h.full()
}

// loaded notes strings that those who get the rows may keep.
func (h *heapWatch) loaded(b *batch) {
	if b != nil {
		h.due -= int(b.charged / textPerLook)
	}
}
