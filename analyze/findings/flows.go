package findings

import (
	"netrec/analyze/engine"
	"netrec/analyze/turns"
)

// flows follows the turns of all connections once, for all rules that judge by them.
type flows struct {
	in    *engine.Input
	turn  []func(*turns.Followed, *turns.Turn)
	ended []func(*turns.Followed)

	holes    *holes
	spurious *spurious
}

// turnEvents are the events without which turns are not known.
var turnEvents = []string{"tcp_rcv_est", "sock_io"}

// follow hands every turn and the end of every connection to the functions, either of which may be
// nil.
func (f *flows) follow(turn func(*turns.Followed, *turns.Turn), ended func(*turns.Followed)) {
	if len(f.turn)+len(f.ended) == 0 {
		turns.Follow(f.in, f.onTurn, f.onEnd)
	}
	if turn != nil {
		f.turn = append(f.turn, turn)
	}
	if ended != nil {
		f.ended = append(f.ended, ended)
	}
}

func (f *flows) onTurn(c *turns.Followed, t *turns.Turn) {
	for _, h := range f.turn {
		h(c, t)
	}
}

func (f *flows) onEnd(c *turns.Followed) {
	for _, h := range f.ended {
		h(c)
	}
}
