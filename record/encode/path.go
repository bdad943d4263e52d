package encode

import (
	"bytes"

	"netrec/schema"
)

// appendPath puts the parts of a file's name, which the record has from the last to the
// first, in order. A name that did not fit begins with three dots.
func appendPath(dst, raw []byte) []byte {
	form, parts := raw[0], raw[1:]
	if i := bytes.Index(parts, []byte{0, 0}); i >= 0 {
		parts = parts[:i+1]
	}
	switch form {
	case schema.PathRooted:
		dst = append(dst, '/')
	case schema.PathCut:
		dst = append(dst, ".../"...)
	case schema.PathFree:
	default:
		return dst
	}
	parts = bytes.TrimRight(parts, "\x00")
	for end := len(parts); end > 0; {
		start := bytes.LastIndexByte(parts[:end], 0)
		dst = append(dst, parts[start+1:end]...)
		if end = start; end > 0 {
			dst = append(dst, '/')
		}
	}
	return dst
}
