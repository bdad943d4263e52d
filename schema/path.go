package schema

// A field of conversion path is a form, one byte, and the parts of a file's name from the
// last to the first, each ended by a zero, then zeros. A form of 0 means that there is none.
const (
	PathRooted = iota + 1 // all parts up to the root
	PathCut               // more parts than the record has room for
	PathFree              // not below a root: something that lives in no directory
)
