package analyze

import (
	"netrec/analyze/calls"
	"netrec/analyze/engine"
	"netrec/analyze/line"
)

// udpLine is a connect, or a datagram of a socket that is not connected, as a line shows it.
type udpLine struct {
	ts, pid, port, lport          int64
	comm, addr, how, proto, laddr string
	sent, received                int64 // when the first datagram was, 0 if none
}

func (f *udpconnect) line(r *engine.Row, addr string, port int64, how string) {
	l := udpLine{ts: r.TS, pid: r.Int(f.pid), comm: r.Str(f.comm), addr: addr, port: port, how: how, lport: r.Int(f.lport), proto: r.Str(f.proto), laddr: r.Str(f.laddr)}
	if f.first == nil {
		f.write(&l)
		return
	}
	f.first.add(r.Sock, l, how == calls.Connected)
}

func (f *udpconnect) write(l *udpLine) {
	f.t.Int(f.in.Local(l.ts)).Int(l.pid).Str(l.comm).Int(line.IPVersion(l.addr)).StrOr(l.addr).Int(l.port)
	if !f.compat {
		f.t.IntOr(l.lport, l.lport != 0).Str(l.how)
		if f.first != nil {
			f.t.IntOr((l.sent-l.ts)/1000, l.sent != 0).IntOr((l.received-l.ts)/1000, l.received != 0)
		}
		what := ""
		if l.port == line.DNSPort {
			what = "DNS"
		}
		f.t.StrOr(what)
	}
	f.t.StrOr(l.proto).StrOr(l.laddr).Int(l.ts).End()
}
