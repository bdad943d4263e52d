package agg

// File is an open socket as processes have it: what descriptors lead to. It begins
// where a call makes it or a descriptor is first seen to lead to it, and ends when the
// last descriptor that is known is closed. A socket that is connected again has several
// lives and one file.
type File struct {
	Addr   uint64 // of the struct sock
	Serial int64  // unique in the recording, in the order of appearance
	Cookie int64  // 0 if unknown
	Refs   int    // descriptors known to lead to it
	Pid    int64  // process and descriptor that it began with
	FD     int64
	Comm   string
	First  int64 // ts_ns of the first row that had it
	Born   bool  // the call that made it was seen
	Older  bool  // it was open when the recording began
	Passed bool  // more than one process had a descriptor of it

	slot   int
	over   bool  // set for OnEnd
	sure   int64 // ts_ns until which it is known to have been open
	flight int   // messages that carry it and were not read yet
	idle   int64 // ts_ns when the last descriptor was closed while one was under way
}

// FileEnd is how a file ended.
type FileEnd uint8

// Ends of files.
const (
	LastClosed FileEnd = iota // the last descriptor was closed
	Replaced                  // its address was reused, the close was not seen
	StillOpen                 // the recording ended
	Unseen                    // rows were lost, its end maybe among them
)

// PerFile is a value for each open file, without a map.
type PerFile[T any] struct{ perLife[T] }

// Of is the value of the file, zero when it is first asked for.
func (p *PerFile[T]) Of(f *File) *T { return p.at(f.slot, f.Serial, f.over) }

// fdTable is the descriptors of a process, or of several that share them. Only those of
// sockets are in it.
type fdTable struct {
	fds    map[int64]fdEntry
	users  int   // processes
	parent int64 // process it was copied from; 0 if unknown
}

// fdEntry is what a descriptor leads to. A closed one stays, for its generation.
type fdEntry struct {
	file   *File
	serial int64 // of the file: it may be over and its memory used again
	since  int64 // ts_ns when the descriptor began to lead there
	seen   int64 // the newest row that says so, where rows were lost
	gen    int32
}

// open reports whether the descriptor leads to a file that still is.
func (e *fdEntry) open() bool { return e.file != nil && e.file.Serial == e.serial }
