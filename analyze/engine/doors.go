package engine

import (
	"fmt"
	"slices"
	"strings"

	"netrec/analyze/agg"
	"netrec/analyze/scan"
	"netrec/schema"
)

// missed is what passes the hooks by which a recording saw an event, for want of others. A
// recording without them that is from before they were known has none of it either.
func missed(m *scan.Meta, event string) string {
	e := schema.ByName(event)
	if e == nil || e.Own() {
		return ""
	}
	at := slices.IndexFunc(m.Hooks, func(h schema.EventHooks) bool {
		return h.Event == event && h.State == schema.HookAttached && len(h.Hooks) > 0
	})
	if at < 0 {
		return ""
	}
	attached := func(h schema.Hook) bool { return slices.Contains(m.Hooks[at].Hooks, h.String()) }
	text := ""
	for i, rung := range e.Ladder {
		for _, h := range rung {
			switch {
			case h.Missed == "":
			case i == 0 && !attached(h):
				text = listed(text, h.Missed)
			case i > 0 && text != "" && attached(h):
				return h.Missed
			}
		}
	}
	return text
}

func listed(a, b string) string {
	if a == "" {
		return b
	}
	return a + ", " + b
}

// handles reports whether the answer is made of rows of an event.
func (in *Input) handles(event string) bool {
	return slices.ContainsFunc(slices.Concat(in.needs, in.uses), func(u use) bool { return u.event == event && u.handler != nil })
}

// doors counts connections that processes made or took by calls that were not seen, where an
// answer is about such calls: changes of state and closes prove them. Filters may have left
// out the calls alone.
func (in *Input) doors() {
	for name := range in.Meta.Recording.Filters {
		if name != "netns" {
			return
		}
	}
	connects := in.handles("sys_connect") && missed(in.Meta, "sys_connect") != ""
	accepts := in.handles("sys_accept") && missed(in.Meta, "sys_accept") != ""
	if !connects && !accepts {
		return
	}
	if !in.sockets {
		in.Sockets("")
	}
	in.OnEnd(func(s *agg.Socket) {
		if accepts && s.UnseenAccept() {
			in.passed[1]++
		}
		if connects && s.UnseenConnect() {
			in.passed[0]++
		}
	})
}

// notePassed says how many calls came by doors without a hook.
func (in *Input) notePassed() {
	for i, what := range [2]string{"connects", "accepts"} {
		if n := in.passed[i]; n > 0 {
			in.Answer.Note(fmt.Sprintf("missing: at least %s TCP %s, which only show in state changes", Thousands(n), what))
		}
	}
}

// waiting is how many receives may have begun before the recording and ended in it, where the
// hooks are in functions, which show only calls that enter them afterwards.
func waiting(m *scan.Meta, event string) (n int64) {
	proto, ok := map[string]string{"sock_io": "", "sock_stack": "", "tcp_msg": "tcp", "udp_msg": "udp"}[event]
	at := slices.IndexFunc(m.Hooks, func(h schema.EventHooks) bool { return h.Event == event })
	if !ok || at < 0 || !slices.ContainsFunc(m.Hooks[at].Hooks, func(h string) bool { return strings.HasPrefix(h, "fexit:") && strings.HasSuffix(h, "recvmsg") }) {
		return 0
	}
	for _, s := range m.Sockets {
		if s.State == "LISTEN" || proto != "" && s.Protocol != proto {
			continue
		}
		for _, o := range s.Owners {
			n += int64(o.Waits)
		}
	}
	return n
}
