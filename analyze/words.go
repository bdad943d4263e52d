package analyze

import "netrec/analyze/render"

// end is an address and a port as one word.
func end(addr string, port int64) string { return render.Endpoint(addr, port) }

// result is a return value, with the name of the error.
func result(v int64) string { return render.Errno(v) }
