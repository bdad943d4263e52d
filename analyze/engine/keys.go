package engine

import (
	"netrec/analyze/render"
	"netrec/analyze/scan"
)

// SocketKeys are the keys that any event with a socket can be told apart by, for By.
var SocketKeys = []string{"comm", "pid", "sock", "port", "lport", "rport", "host", "laddr", "proto", "family", "netns", "cgroup"}

// singleKeys tell sockets apart: what is added up for one of them needs no scaling.
var singleKeys = []string{"sock", "conn"}

// commonKeys are the keys that mean the same in every analysis.
var commonKeys = map[string]KeyDef{
	"comm":   {Columns: []render.Column{render.Col("comm", render.String)}, bind: bindComm},
	"pid":    {Columns: []render.Column{render.Col("pid", render.Int)}, bind: bindPid},
	"tid":    numKey("tid"),
	"cpu":    numKey("cpu"),
	"netns":  numKey("netns"),
	"queue":  numKey("queue"),
	"nfds":   numKey("nfds"),
	"ctx":    textKey("ctx"),
	"dir":    textKey("dir"),
	"func":   textKey("func"),
	"family": textKey("family"),
	"type":   textKey("sock_type"),
	"dev":    textKey("dev"),
	"kind":   textKey("qdisc_kind"),
	"state":  textKey("state"),
	"reason": textKey("drop_reason"),
	"cgroup": {Columns: []render.Column{render.Col("cgroup", render.String)}, need: []string{"cgroup"}, bind: bindCgroup},
	"second": {Columns: []render.Column{render.Col("time", render.Clock)}, bind: bindTime(1e9)},
	"minute": {Columns: []render.Column{render.Col("time", render.Clock)}, bind: bindTime(60e9)},
	"proto":  {Columns: []render.Column{render.Col("proto", render.String)}, bind: bindProto},
	"ustack": {Columns: []render.Column{render.Col("ustack", render.Stack)}, need: []string{"ustack"}, bind: bindText("ustack")},
	"kstack": {Columns: []render.Column{render.Col("kstack", render.Stack)}, need: []string{"kstack"}, bind: bindText("kstack")},
	// The generation tells the lives of a reused address apart.
	"sock":  {Columns: []render.Column{render.Col("sock", render.Addr), render.Col("generation", render.Int)}, sock: true, bind: bindSock},
	"port":  {Columns: []render.Column{render.Col("port", render.Int)}, sock: true, bind: bindPort},
	"lport": {Columns: []render.Column{render.Col("lport", render.Int)}, sock: true, bind: bindEnd(false, true)},
	"rport": {Columns: []render.Column{render.Col("rport", render.Int)}, sock: true, bind: bindEnd(true, true)},
	"laddr": {Columns: []render.Column{render.Col("laddr", render.String)}, sock: true, bind: bindEnd(false, false)},
	"host":  {Columns: []render.Column{render.Col("host", render.String)}, sock: true, bind: bindEnd(true, false)},
}

type binder = func(*Input, *Keys) func(*Row, *KeyValues)

func numKey(column string) KeyDef {
	return KeyDef{Columns: []render.Column{render.Col(column, render.Int)}, need: []string{column}, bind: func(in *Input, _ *Keys) func(*Row, *KeyValues) {
		c := in.Int(column)
		return func(r *Row, v *KeyValues) { v.IntOr(r.Int(c), r.Has(c)) }
	}}
}

func textKey(column string) KeyDef {
	return KeyDef{Columns: []render.Column{render.Col(column, render.String)}, need: []string{column}, bind: bindText(column)}
}

func bindText(column string) binder {
	return func(in *Input, _ *Keys) func(*Row, *KeyValues) {
		c := in.Str(column)
		return func(r *Row, v *KeyValues) { v.StrOr(r.Str(c)) }
	}
}

// bindTime is the time of day at which the second or minute of a row began.
func bindTime(step int64) binder {
	return func(in *Input, _ *Keys) func(*Row, *KeyValues) {
		return func(r *Row, v *KeyValues) { v.Int(in.Local(r.TS / step * step)) }
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

func bindComm(in *Input, k *Keys) func(*Row, *KeyValues) {
	in.byProcess(k)
	return func(r *Row, v *KeyValues) {
		if pid, comm := k.process(in, r); pid != 0 || comm != "" {
			v.Str(comm) // a process may have no name
		} else {
			v.Null()
		}
	}
}

func bindPid(in *Input, k *Keys) func(*Row, *KeyValues) {
	in.byProcess(k)
	return func(r *Row, v *KeyValues) {
		pid, _ := k.process(in, r)
		v.IntOr(pid, pid != 0 || k.OnCPU)
	}
}

// bindCgroup is the control group of the process of a row, which interrupts have from the
// socket.
func bindCgroup(in *Input, k *Keys) func(*Row, *KeyValues) {
	in.byProcess(k)
	group := in.Str("cgroup")
	return func(r *Row, v *KeyValues) {
		switch {
		case k.OnCPU || in.ofTask(r):
			if !r.HasStr(group) {
				in.nogroup++
			}
			v.StrOr(r.Str(group))
		case r.Sock != nil:
			v.StrOr(r.Sock.Cgroup)
		default:
			v.Null()
		}
	}
}

// bindProto is the kernel's name of the protocol where a row has it, else that of the
// socket's IP protocol.
func bindProto(in *Input, _ *Keys) func(*Row, *KeyValues) {
	name, protocol := in.Str("prot_name"), in.Str("protocol")
	return func(r *Row, v *KeyValues) {
		s := r.Str(name)
		if s == "" {
			s = r.Str(protocol)
		}
		if s == "" && r.Sock != nil {
			s = r.Sock.Protocol
		}
		v.StrOr(s)
	}
}

func bindSock(*Input, *Keys) func(*Row, *KeyValues) {
	return func(r *Row, v *KeyValues) {
		if r.Sock == nil {
			v.Null()
			v.Null()
			return
		}
		v.Int(int64(r.Sock.Addr))
		v.Int(int64(r.Sock.Gen))
	}
}

// bindPort is the port that names the service: the local one of a socket that listens
// or was accepted, the remote one of a socket that connected.
func bindPort(in *Input, _ *Keys) func(*Row, *KeyValues) {
	remote := newRemote(in)
	return func(r *Row, v *KeyValues) {
		if r.Sock != nil && r.Sock.Serves() {
			v.Int(r.Sock.Lport)
			return
		}
		_, port := remote.of(r)
		v.IntOr(port, port != 0)
	}
}

func bindEnd(far, port bool) binder {
	return func(in *Input, _ *Keys) func(*Row, *KeyValues) {
		remote := newRemote(in)
		return func(r *Row, v *KeyValues) {
			addr, p := "", int64(0)
			switch {
			case far:
				addr, p = remote.of(r)
			case r.Sock != nil:
				addr, p = r.Sock.Laddr, r.Sock.Lport
			}
			if port {
				v.IntOr(p, p != 0)
			} else {
				v.StrOr(addr)
			}
		}
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
