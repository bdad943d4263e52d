package line

import (
	"slices"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
)

// PortsOption is an option of the BCC tools that takes ports separated by commas.
func PortsOption(name, short, which string) engine.Option {
	return engine.Option{Name: name, Short: short, Kind: engine.Several, Doc: "only these " + which + " ports, separated by commas", Check: engine.CheckPort}
}

// PortList is the value of such an option.
type PortList []int64

// NewPortList reads the option of that name.
func NewPortList(in *engine.Input, name string) PortList {
	ports, _ := engine.ParsePorts(in.Text(name)) // checked before
	return ports
}

// Has reports whether the port is listed; an empty list has all.
func (l PortList) Has(port int64) bool { return len(l) == 0 || slices.Contains(l, port) }

// PortOptions are the options -L and -D of the BCC tools.
var PortOptions = []engine.Option{PortsOption("localport", "L", "local"), PortsOption("remoteport", "D", "remote")}

// PortFilter is the choice made with them.
type PortFilter struct{ local, remote PortList }

// NewPortFilter reads the options.
func NewPortFilter(in *engine.Input) PortFilter {
	return PortFilter{NewPortList(in, "localport"), NewPortList(in, "remoteport")}
}

// Wants reports whether the socket is among those chosen.
func (f PortFilter) Wants(s *agg.Socket) bool { return f.local.Has(s.Lport) && f.remote.Has(s.Rport) }

// CSVOption is the option -s of the BCC tools.
var CSVOption = engine.Option{Name: "csv", Short: "s", Kind: engine.Flag, Doc: "comma-separated, as --format csv but with limits and notes"}
