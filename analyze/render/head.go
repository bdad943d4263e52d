package render

import (
	"bytes"
	"io"
	"slices"
)

// head is what comes before the rows of an answer: what limits it. It is made as late as
// possible, because reading on may find a further limit: when the answer ends, or when its
// first rows have to leave the buffer.
type head struct {
	limits []string
	exact  string // what is said of an answer that nothing limits
	begun  bool
	made   bool
	late   []string // limits that were found after it was made
	bytes  []byte
}

// Begin states what limits the answer. It comes before any row.
func (h *head) Begin(limits []string) { h.limits, h.begun = limits, true }

// Exact is what is to be said of the answer if nothing limits it.
func (h *head) Exact(s string) { h.exact = s }

// Limit adds a limit that was found while rows were read. It comes first of all, or after the
// rows, if the head is already written.
func (h *head) Limit(s string) {
	if h.made {
		h.late = append(h.late, s)
	} else {
		h.limits = slices.Insert(h.limits, 0, s)
	}
}

// settle completes the head of an answer that has all its rows. It returns what is to be said
// of limits after the rows, where the head left too early.
func (h *head) settle(a *Answer) (late []string) {
	if !h.made && len(h.limits) == 0 && h.exact != "" {
		h.limits = []string{h.exact}
	} else if h.made && len(h.limits)+len(h.late) == 0 && h.exact != "" {
		h.late = []string{h.exact}
	}
	h.make(a)
	return h.late
}

// make lets the format write the head, once. The format may be in the middle of a row then.
func (h *head) make(a *Answer) {
	if h.made || !h.begun {
		return
	}
	h.made = true
	var b bytes.Buffer
	a.w.begin(a, &b, h.limits)
	h.bytes = b.Bytes()
}

// streamed is where the first answer goes: through its head.
type streamed struct {
	a *Answer
	w io.Writer
}

func (s streamed) Write(p []byte) (int, error) {
	if err := s.a.sendHead(s.w); err != nil {
		return 0, err
	}
	return s.w.Write(p)
}

// send writes what is left of the answer: all that waited, of the first one the rest.
func (a *Answer) send(w io.Writer) error {
	if err := a.sendHead(w); err != nil {
		return err
	}
	if err := a.out.Flush(); err != nil || a.spool == nil {
		return err
	}
	return a.spool.copyTo(w)
}

// sendHead writes the head if that is still to be done.
func (a *Answer) sendHead(w io.Writer) error {
	a.make(a)
	b := a.head.bytes
	a.head.bytes = nil
	_, err := w.Write(b)
	return err
}
