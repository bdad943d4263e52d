package analyze

import (
	"fmt"
	"strconv"
	"strings"

	"netrec/analyze/engine"
	"netrec/analyze/render"
)

// rmemLimits holds the receive buffers of TCP sockets against what the host allows.
type rmemLimits struct {
	text        string // as the host has it; "" if unknown
	start, most int64
	counts      [4]int64 // reads, by the words below
}

var rmemWords = [...]string{"at or below initial", "grown", "at the maximum", "above (SO_RCVBUF)"}

func newRmemLimits(in *engine.Input) *rmemLimits {
	f := &rmemLimits{text: in.Meta.Sysctls["net.ipv4.tcp_rmem"]}
	if v := strings.Fields(f.text); len(v) == 3 {
		f.start, _ = strconv.ParseInt(v[1], 10, 64)
		f.most, _ = strconv.ParseInt(v[2], 10, 64)
	}
	return f
}

// read takes the limit that a read of a TCP socket found.
func (f *rmemLimits) read(limit int64) {
	switch {
	case limit <= f.start:
		f.counts[0]++
	case limit < f.most:
		f.counts[1]++
	case limit == f.most:
		f.counts[2]++
	default:
		f.counts[3]++
	}
}

// Finish says how many reads found which.
func (f *rmemLimits) Finish(a *render.Answer) {
	var said []string
	for i, n := range f.counts {
		if n > 0 {
			said = append(said, engine.Thousands(n)+" "+rmemWords[i])
		}
	}
	if f.most > 0 && said != nil {
		a.Note(fmt.Sprintf("buffer limits at TCP reads, compared with tcp_rmem %s (minimum, initial, maximum): %s", f.text, strings.Join(said, ", ")))
	}
}

// Finish says how the numbers were taken, and what the host allows.
func (f *sormem) Finish(a *render.Answer) {
	if f.late > 0 {
		a.Note(fmt.Sprintf("%s of %s show the queue after the call; --profile full records it before the call, if the kernel allows", engine.Thousands(f.late), engine.Plural(f.reads, "read", "reads")))
	}
	if f.sends > 0 && !f.compat {
		a.Note(fmt.Sprintf("left out %s of memory to sending sockets; the original prints them (--compat)", engine.Plural(f.sends, "refusal", "refusals")))
	}
	if f.udp > 0 {
		a.Note(fmt.Sprintf("%s found no room (OVERFL); the original does not see UDP (--compat)", engine.Plural(f.udp, "datagram", "datagrams")))
	}
	f.allowed.Finish(a)
}
