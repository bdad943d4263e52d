package engine

import (
	"netrec/analyze/agg"
	"netrec/analyze/scan"
)

// SocketsOf are the sockets of a recording for readers that are no analysis. They are not fed:
// others follow them, and judge as those of analyses do where rows were lost. It takes the
// events that are read, and fills gaps, by event: when rows of it may be missing, or whose they
// are. Memory may end it early.
func SocketsOf(src scan.Source, events []string, gaps map[string]*agg.Gaps) (*agg.Sockets, *scan.Full, error) {
	r := &run{src: src, sockets: agg.SocketsOf(src.Meta())}
	in := &Input{}
	for e, g := range gaps {
		in.gaps = append(in.gaps, lossOfEvents{g, append([]string{e}, agg.LifeEvents...)})
	}
	r.inputs = []*Input{in}
	if err := r.gaps(); err != nil {
		return nil, nil, err
	}
	err := r.prove(scan.Query{Events: events})
	return r.sockets, r.full, err
}
