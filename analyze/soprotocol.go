package analyze

import (
	"fmt"
	"strings"

	"netrec/analyze/calls"
	"netrec/analyze/engine"
	"netrec/analyze/render"
	"netrec/analyze/shape"
)

var _ = register(engine.Analysis{
	Name:     "soprotocol",
	Group:    groupWho,
	Question: "which protocols do processes connect and accept with?",
	Help: `Calls of connect(2), and calls of accept(2) that returned a connection, by process and
protocol: its number, the number's name, and the kernel's name of the protocol. For sockets
other than IP, protocol 0 means the default protocol of the family.

The original counts accepts when they are called, on the listening socket, and counts them
together with connects. --compat does the same.`,
	Example: "soprotocol --by proto,port",
	Options: []engine.Option{engine.By("comm,proto", append(calls.Keys, "type")...), engine.Compat("accepts and connects together, failed ones too")},
	New: func(in *engine.Input) engine.Fold {
		proto, family, typ, ret, compat := in.Str("protocol"), in.Str("family"), in.Str("sock_type"), in.Int("ret"), in.Flag("compat")
		own := calls.ResultKeys(in, false)
		own["proto"] = engine.KeyDef{
			render.NumOr("protocol", func(r *engine.Row) (int64, bool) {
				p := calls.Proto(r, proto, family)
				return calls.EnumNumber("protocol", p), p != ""
			}),
			render.TextOr("name", func(r *engine.Row) string { return protocolName(calls.Proto(r, proto, family)) }),
			render.TextOr("kernel_name", func(r *engine.Row) string {
				return kernelProto(calls.Proto(r, proto, family), r.Str(family), r.Str(typ))
			})}
		keys := in.Keys(own)
		accept, connect := shape.Count(in, "accept", keys.Fields...), shape.Count(in, "connect", keys.Fields...)
		in.Sockets("")
		var failed, mixed int64
		in.On("sys_connect", func(r *engine.Row) { connect.Add(keys.Of(r), 1) })
		in.On("sys_accept", func(r *engine.Row) {
			if mixed++; r.Int(ret) < 0 {
				failed++
			}
			switch {
			case compat:
				connect.Add(keys.Of(r), 1)
			case r.Int(ret) >= 0:
				accept.Add(keys.Of(r), 1)
			}
		})
		return shape.Also(accept, connect, engine.FoldFunc(func(a *render.Answer) {
			accepts := engine.Plural(mixed, "accept", "accepts")
			shape.NoteRules(a, mixed, compat, fmt.Sprintf("--compat: the connects include %s, %s of them failed", accepts, engine.Thousands(failed)),
				fmt.Sprintf("in the original (--compat) the connects include %s, %s of them failed", accepts, engine.Thousands(failed)))
		}))
	},
})

// protocolName is the name of an IP protocol in C.
func protocolName(p string) string {
	if p == "" || p[0] >= '0' && p[0] <= '9' {
		return ""
	}
	return "IPPROTO_" + strings.ToUpper(p)
}

// kernelNames are the names that struct proto has in the kernel, for IPv4 and IPv6.
var kernelNames = map[string][2]string{"tcp": {"TCP", "TCPv6"}, "udp": {"UDP", "UDPv6"}, "icmp": {"PING", ""}, "icmpv6": {"", "PINGv6"},
	"udplite": {"UDP-Lite", "UDPLITEv6"}, "sctp": {"SCTP", "SCTPv6"}, "mptcp": {"MPTCP", "MPTCPv6"}, "raw": {"RAW", "RAWv6"}}

// kernelProto is the kernel's name of a socket's protocol: TCP, UDPv6, UNIX-STREAM.
func kernelProto(p, family, typ string) string {
	switch family {
	case "inet":
		return kernelNames[p][0]
	case "inet6":
		return kernelNames[p][1]
	case "unix":
		if typ == "stream" {
			return "UNIX-STREAM"
		}
		return "UNIX"
	}
	return strings.ToUpper(family)
}
