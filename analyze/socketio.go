package analyze

import (
	"fmt"
	"slices"

	"netrec/analyze/calls"
	"netrec/analyze/engine"
	"netrec/analyze/render"
	"netrec/analyze/scan"
	"netrec/analyze/shape"
)

var _ = register(engine.Analysis{
	Name:     "socketio",
	Aliases:  []string{"udpio --udp"},
	Group:    groupMuch,
	Question: "how many socket reads and writes does each process do, by protocol and port?",
	Help: `Send and receive calls by process, direction, protocol and port, rarest first. --bytes adds
up the bytes instead, without MSG_PEEK reads. --udp counts in UDP's own functions, for
recordings without the other protocols.

The port is the one that names the service. Accepted sockets: the local port. Sockets that
connected: the remote port. Unconnected sockets that are bound to a port: the local port
(for sockets older than the recording, if it is outside ip_local_port_range). Other
datagrams: the port they went to or came from. The original uses the remote port of the
socket, so a server has one key per client, and unconnected sockets have port 0; --compat
does the same. Protocols have the kernel's names: TCP, TCPv6, UDP, UNIX … Failed calls
count; a note says how many.`,
	Example: "socketio --bytes --by comm,dir,host",
	Options: []engine.Option{
		{Name: "bytes", Kind: engine.Flag, Doc: "sum of bytes instead of the number of calls"},
		{Name: "udp", Kind: engine.Flag, Doc: "from UDP's own functions"},
		engine.By("comm,pid,dir,proto,port", append([]string{"errno", "second"}, engine.SocketKeys...)...),
		engine.Compat("remote port of the socket"),
	},
	New: newSocketio,
})

type socketio struct {
	io          *shape.Map[engine.Key, int64]
	keys        *engine.Keys
	sum, compat bool

	failed, peeks, roles, calls int64

	bytes *engine.Bytes

	Ret, Rport, DestPort, PeerPort scan.Int
	Dir, Func                      scan.Str
}

func newSocketio(in *engine.Input) engine.Fold {
	f := &socketio{sum: in.Flag("bytes"), compat: in.Flag("compat"), bytes: in.Bytes()}
	in.Bind(f)
	own := calls.ResultKeys(in, false)
	own["dir"] = engine.KeyDef{render.Text("dir", f.direction)}
	event := "sock_io"
	if in.Flag("udp") {
		event = "udp_msg"
		own["proto"] = engine.KeyDef{render.Text("proto", f.udpName)}
	}
	if f.compat {
		own["port"] = engine.KeyDef{render.Num("port", func(r *engine.Row) int64 { return r.Int(f.Rport) })}
	}
	f.keys = in.Keys(own)
	name := "io"
	if f.sum {
		name = "io_bytes"
	}
	f.io = shape.Count(in, name, f.keys.Fields...)
	in.Sockets("whether a port of theirs is the service's is known from the listeners of that moment")
	in.On(event, f.row)
	return shape.Also(f.io, f)
}

func (f *socketio) direction(r *engine.Row) string {
	if r.Str(f.Dir) == "send" {
		return "write"
	}
	return "read"
}

// udpName is the kernel's name of the protocol whose function made the row.
func (f *socketio) udpName(r *engine.Row) string {
	if slices.Contains([]string{"udpv6_sendmsg", "udpv6_recvmsg"}, r.Str(f.Func)) {
		return "UDPv6"
	}
	return "UDP"
}

func (f *socketio) row(r *engine.Row) {
	f.calls++
	if s := r.Sock; s != nil && (s.Serves() || r.Int(f.Rport) == 0 && r.Int(f.DestPort)+r.Int(f.PeerPort) != 0) {
		f.roles++
	}
	n := r.Int(f.Ret)
	if n < 0 {
		f.failed++
	}
	if !f.sum {
		f.io.Add(f.keys.Of(r), 1)
		return
	}
	if f.bytes.Peeked(r) {
		f.peeks++
		return
	}
	if n > 0 {
		f.io.Add(f.keys.Of(r), n)
	}
}

// Finish says what counts how.
func (f *socketio) Finish(a *render.Answer) {
	if f.failed > 0 {
		a.Note(fmt.Sprintf("%s of %s returned an error", engine.Thousands(f.failed), engine.Plural(f.calls, "call", "calls")))
	}
	if f.peeks > 0 {
		a.Note(fmt.Sprintf("left out %s with MSG_PEEK", engine.Plural(f.peeks, "read", "reads")))
	}
	if f.roles > 0 {
		a.Note(fmt.Sprintf("%s on server or unconnected sockets: the original (--compat) shows another port, the remote one of the socket", engine.Plural(f.roles, "call", "calls")))
	}
}
