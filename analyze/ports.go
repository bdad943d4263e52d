package analyze

import (
	"slices"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
)

// portsOption is an option of the BCC tools that takes ports separated by commas.
func portsOption(name, short, which string) engine.Option {
	return engine.Option{Name: name, Short: short, Kind: engine.Several, Doc: "only these " + which + " ports, separated by commas", Check: engine.CheckPort}
}

// portList is the value of such an option.
type portList []int64

func newPortList(in *engine.Input, name string) portList {
	ports, _ := engine.ParsePorts(in.Text(name)) // checked before
	return ports
}

// has reports whether the port is listed; an empty list has all.
func (l portList) has(port int64) bool { return len(l) == 0 || slices.Contains(l, port) }

// portOptions are the options -L and -D of the BCC tools.
var portOptions = []engine.Option{portsOption("localport", "L", "local"), portsOption("remoteport", "D", "remote")}

// portFilter is the choice made with them.
type portFilter struct{ local, remote portList }

func newPortFilter(in *engine.Input) portFilter {
	return portFilter{newPortList(in, "localport"), newPortList(in, "remoteport")}
}

// wants reports whether the socket is among those chosen.
func (f portFilter) wants(s *agg.Socket) bool { return f.local.has(s.Lport) && f.remote.has(s.Rport) }

// csvOption is the option -s of the BCC tools.
var csvOption = engine.Option{Name: "csv", Short: "s", Kind: engine.Flag, Doc: "comma-separated, as --format csv but with limits and notes"}
