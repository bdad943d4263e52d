package engine

import (
	"net/netip"
	"slices"

	"netrec/analyze/agg"
	"netrec/analyze/scan"
	"netrec/schema"
)

// verdict says which parts of a selection a socket satisfies.
type verdict uint8

const (
	byOwner verdict = 1 << iota
	byPort
	byNet
	owned // its owner is known
)

// matcher decides which rows a selection means. A row without a process, port or
// address of its own is judged by its socket, and by all that is ever known of it:
// the process that accepts a connection is seen after the handshake.
type matcher struct {
	sel      *Selection
	verdicts []verdict // by Socket.Serial
	known    map[string]bool

	asked scan.Columns
	ports []scan.Int // those that the selection needs
	addrs []scan.Str

	Pid       scan.Int
	Comm, Ctx scan.Str
}

func newMatcher(sel *Selection) *matcher {
	m := &matcher{sel: sel, known: map[string]bool{}}
	m.asked.MustBind(m)
	if len(sel.Ports) > 0 {
		m.ports = must(m.asked.Int, "lport", "rport", "sport", "dport", "dest_port", "peer_port", "bind_port", "inner_sport", "inner_dport")
	}
	if sel.Net.IsValid() {
		m.addrs = must(m.asked.Str, "laddr", "raddr", "saddr", "daddr", "dest_addr", "peer_addr", "bind_addr", "inner_saddr", "inner_daddr")
	}
	return m
}

// must asks for columns that there are.
func must[H any](ask func(string) (H, error), names ...string) []H {
	var hs []H
	for _, n := range names {
		h, err := ask(n)
		if err != nil {
			panic(err)
		}
		hs = append(hs, h)
	}
	return hs
}

// columns are those that row reads.
func (m *matcher) columns() []scan.Col { return m.asked.All() }

// settle notes what is known of a socket at the end of its life.
func (m *matcher) settle(s *agg.Socket) {
	for int64(len(m.verdicts)) <= s.Serial {
		m.verdicts = append(m.verdicts, 0)
	}
	var v verdict
	if s.Pid != 0 {
		v |= owned
	}
	if m.process(s.Pid, s.Comm) {
		v |= byOwner
	}
	if slices.Contains(m.sel.Ports, s.Lport) || slices.Contains(m.sel.Ports, s.Rport) {
		v |= byPort
	}
	if m.inNet(s.Laddr) || m.inNet(s.Raddr) {
		v |= byNet
	}
	m.verdicts[s.Serial] = v
}

// socket reports whether all parts of the selection hold for the socket itself.
func (m *matcher) socket(s *agg.Socket) bool {
	var want verdict
	if m.sel.Pid != 0 || m.sel.Comm != "" {
		want |= byOwner
	}
	if len(m.sel.Ports) > 0 {
		want |= byPort
	}
	if m.sel.Net.IsValid() {
		want |= byNet
	}
	return m.of(s)&want == want
}

func (m *matcher) of(s *agg.Socket) verdict {
	if s == nil || s.Strange || s.Serial >= int64(len(m.verdicts)) {
		return 0
	}
	return m.verdicts[s.Serial]
}

// row reports whether the selection means this row.
func (m *matcher) row(r *scan.Row, s *agg.Socket) bool {
	v := m.of(s)
	if m.sel.Pid != 0 || m.sel.Comm != "" {
		if ofTask(r, r.Str(m.Ctx), v&owned != 0) {
			if !m.process(r.Int(m.Pid), r.Str(m.Comm)) {
				return false
			}
		} else if v&byOwner == 0 {
			return false
		}
	}
	if len(m.sel.Ports) > 0 && v&byPort == 0 && !m.hasPort(r) {
		return false
	}
	return !m.sel.Net.IsValid() || v&byNet != 0 || m.hasAddr(r)
}

func (m *matcher) process(pid int64, comm string) bool {
	return (m.sel.Pid == 0 || pid == m.sel.Pid) && (m.sel.Comm == "" || comm == m.sel.Comm)
}

func (m *matcher) hasPort(r *scan.Row) bool {
	for _, c := range m.ports {
		if slices.Contains(m.sel.Ports, r.Int(c)) {
			return true
		}
	}
	return false
}

func (m *matcher) hasAddr(r *scan.Row) bool {
	for _, c := range m.addrs {
		if m.inNet(r.Str(c)) {
			return true
		}
	}
	return false
}

// inNet remembers its answers: addresses repeat and parsing them is slow.
func (m *matcher) inNet(addr string) bool {
	if addr == "" {
		return false
	}
	in, ok := m.known[addr]
	if !ok {
		a, err := netip.ParseAddr(addr)
		in = err == nil && m.sel.Net.IsValid() && m.sel.Net.Contains(a.Unmap().WithZone(""))
		if len(m.known) >= 1<<16 {
			clear(m.known)
		}
		m.known[addr] = in
	}
	return in
}

// byTask reports whether a row ran for the task on the CPU. Where the kernel hides the
// context, the events of calls did.
func byTask(r *scan.Row, ctx string) bool {
	return ctx == "task" || ctx == "unknown" && calls[r.Event.ID]
}

// ofTask reports whether a row belongs to the task on the CPU. A task may do another's work:
// one that hands packets to the kernel, as a relay does, makes rows of whoever they are for.
func ofTask(r *scan.Row, ctx string, owned bool) bool {
	return byTask(r, ctx) && (calls[r.Event.ID] || !owned)
}

// calls marks, by id, the events that a task makes by calling something.
var calls = func() []bool {
	t := make([]bool, schema.MaxID)
	for i := range schema.Events {
		e := &schema.Events[i]
		if !e.Own() {
			k := e.Ladder[0][0].Kind
			t[e.ID] = k == schema.Syscall || e.Libraries() || e.InCall
		}
	}
	return t
}()
