package engine

import (
	"slices"

	"netrec/analyze/agg"
	"netrec/analyze/render"
	"netrec/analyze/scan"
	"netrec/schema"
)

// SocketKeys are the keys that any event with a socket can be told apart by, for By.
var SocketKeys = []string{"comm", "pid", "sock", "port", "lport", "rport", "host", "laddr", "proto", "family", "netns", "cgroup"}

// singleKeys tell sockets apart: what is added up for one of them needs no scaling.
var singleKeys = []string{"sock", "conn"}

// commonKey is a key that means the same in every analysis.
type commonKey struct {
	need   []string // columns of the file
	sock   bool     // goes by the row's socket
	fields func(*Input, *Keys) KeyDef
}

// exists reports whether the schema has what the key is made of.
func (c commonKey) exists() bool {
	return len(c.need) == 0 || slices.ContainsFunc(c.need, func(c string) bool { return schema.ColumnIndex(c) >= 0 })
}

// common are the columns of a common key.
func (in *Input) common(c *commonKey, k *Keys) KeyDef {
	d := c.fields(in, k)
	if c.sock && !in.sockets {
		in.Sockets("")
	}
	return d
}

// commonKeys are the common keys by name.
var commonKeys = map[string]commonKey{
	"comm":   {fields: commKey},
	"pid":    {fields: pidKey},
	"tid":    numKey("tid"),
	"cpu":    numKey("cpu"),
	"netns":  numKey("netns"),
	"queue":  numKey("queue"),
	"nfds":   numKey("nfds"),
	"ctx":    textKey("ctx", render.String),
	"dir":    textKey("dir", render.String),
	"func":   textKey("func", render.String),
	"family": textKey("family", render.String),
	"type":   textKey("sock_type", render.String),
	"dev":    textKey("dev", render.String),
	"kind":   textKey("qdisc_kind", render.String),
	"state":  textKey("state", render.String),
	"reason": textKey("drop_reason", render.String),
	"cgroup": {need: []string{"cgroup"}, fields: cgroupKey},
	"second": {fields: timeKey(1e9)},
	"minute": {fields: timeKey(60e9)},
	"proto":  {fields: protoKey},
	"ustack": textKey("ustack", render.Stack),
	"kstack": textKey("kstack", render.Stack),
	"sock":   {sock: true, fields: sockKey},
	"port":   {sock: true, fields: portKey},
	"lport":  {sock: true, fields: localKey("lport", true)},
	"rport":  {sock: true, fields: remoteKey("rport", true)},
	"laddr":  {sock: true, fields: localKey("laddr", false)},
	"host":   {sock: true, fields: remoteKey("host", false)},
}

func numKey(column string) commonKey {
	return commonKey{need: []string{column}, fields: func(in *Input, _ *Keys) KeyDef {
		c := in.Int(column)
		return KeyDef{render.NumOr(column, func(r *Row) (int64, bool) { return r.Int(c), r.Has(c) })}
	}}
}

func textKey(column string, kind render.Kind) commonKey {
	return commonKey{need: []string{column}, fields: func(in *Input, _ *Keys) KeyDef {
		c := in.Str(column)
		return KeyDef{render.TextOr(column, func(r *Row) string { return r.Str(c) }).As(kind)}
	}}
}

// timeKey is the time of day at which the second or minute of a row began.
func timeKey(step int64) func(*Input, *Keys) KeyDef {
	return func(in *Input, _ *Keys) KeyDef {
		return KeyDef{render.Num("time", func(r *Row) int64 { return in.Local(r.TS / step * step) }).As(render.Clock)}
	}
}

// byProcess notes keys that need owners: events that interrupts make have no other process.
func (in *Input) byProcess(k *Keys) {
	in.askTask()
	in.owners = append(in.owners, k)
}

// process is the process of a row, by the rule that the keys have.
func (k *Keys) process(in *Input, r *Row) (int64, string) {
	if k.OnCPU {
		return r.Int(in.task.Pid), r.Str(in.task.Comm)
	}
	return in.Owner(r)
}

func commKey(in *Input, k *Keys) KeyDef {
	in.byProcess(k)
	return KeyDef{render.Of("comm", render.String, func(r *Row) render.Cell {
		pid, comm := k.process(in, r)
		return render.Cell{Str: comm, Null: pid == 0 && comm == ""} // a process may have no name
	})}
}

func pidKey(in *Input, k *Keys) KeyDef {
	in.byProcess(k)
	return KeyDef{render.NumOr("pid", func(r *Row) (int64, bool) {
		pid, _ := k.process(in, r)
		return pid, pid != 0 || k.OnCPU
	})}
}

// cgroupKey is the control group of the process of a row, which interrupts have from the
// socket.
func cgroupKey(in *Input, k *Keys) KeyDef {
	in.byProcess(k)
	group := in.Str("cgroup")
	return KeyDef{render.TextOr("cgroup", func(r *Row) string {
		switch {
		case k.OnCPU || in.ofTask(r):
			if !r.HasStr(group) {
				in.nogroup++
			}
			return r.Str(group)
		case r.Sock != nil:
			return r.Sock.Cgroup
		}
		return ""
	})}
}

// protoKey is the kernel's name of the protocol where a row has it, else that of the
// socket's IP protocol.
func protoKey(in *Input, _ *Keys) KeyDef {
	name, protocol := in.Str("prot_name"), in.Str("protocol")
	return KeyDef{render.TextOr("proto", func(r *Row) string {
		s := r.Str(name)
		if s == "" {
			s = r.Str(protocol)
		}
		if s == "" && r.Sock != nil {
			s = r.Sock.Protocol
		}
		return s
	})}
}

// sockKey is the address of the socket; the generation tells the lives of a reused one apart.
func sockKey(*Input, *Keys) KeyDef {
	return render.WithinOr(func(r *Row) (*agg.Socket, bool) { return r.Sock, r.Sock != nil },
		render.Address("sock", func(s *agg.Socket) uint64 { return s.Addr }),
		render.Num("generation", func(s *agg.Socket) int64 { return int64(s.Gen) }))
}

// portKey is the port that names the service: the local one of a socket that listens
// or was accepted, the remote one of a socket that connected.
func portKey(in *Input, _ *Keys) KeyDef {
	remote := newRemote(in)
	return KeyDef{render.NumOr("port", func(r *Row) (int64, bool) {
		if r.Sock != nil && r.Sock.Serves() {
			return r.Sock.Lport, true
		}
		_, port := remote.of(r)
		return port, port != 0
	})}
}

// endKey is the address or the port of an end of a row.
func endKey(name string, port bool, of func(*Row) (string, int64)) KeyDef {
	if port {
		return KeyDef{render.NonZero(name, func(r *Row) int64 { _, p := of(r); return p })}
	}
	return KeyDef{render.TextOr(name, func(r *Row) string { addr, _ := of(r); return addr })}
}

func remoteKey(name string, port bool) func(*Input, *Keys) KeyDef {
	return func(in *Input, _ *Keys) KeyDef { return endKey(name, port, newRemote(in).of) }
}

func localKey(name string, port bool) func(*Input, *Keys) KeyDef {
	return func(*Input, *Keys) KeyDef {
		return endKey(name, port, func(r *Row) (string, int64) {
			if r.Sock == nil {
				return "", 0
			}
			return r.Sock.Laddr, r.Sock.Lport
		})
	}
}

// remote finds the other end of a row: its socket's, or for a socket that is not
// connected, whom the call names.
type remote struct {
	Rport, DestPort, PeerPort scan.Int
	Raddr, DestAddr, PeerAddr scan.Str
}

func newRemote(in *Input) *remote {
	f := &remote{}
	in.Bind(f)
	return f
}

func (m *remote) of(r *Row) (string, int64) {
	if s := r.Sock; s != nil && s.Rport != 0 {
		return s.Raddr, s.Rport
	}
	for _, end := range [...]struct {
		addr scan.Str
		port scan.Int
	}{{m.Raddr, m.Rport}, {m.DestAddr, m.DestPort}, {m.PeerAddr, m.PeerPort}} {
		if p := r.Int(end.port); p != 0 {
			return r.Str(end.addr), p
		}
	}
	return "", 0
}
