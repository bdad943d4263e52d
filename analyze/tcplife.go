package analyze

import (
	"fmt"
	"slices"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/line"
	"netrec/analyze/render"
	"netrec/analyze/scan"
)

var _ = register(engine.Analysis{
	Name:     "tcplife",
	Group:    groupLife,
	Question: "which TCP sessions happened, how long did they live, how many bytes?",
	Help: `One line per session that ended. MS is the time from the first state of the session, its
SYN, to CLOSE. PID and COMM are the process that connected or accepted. Sessions whose
start or end is not in the recording are listed separately, with the part of their life
that is. -w adds the time of the handshake, retransmitted segments and how the session
ended; formats for programs always have them. --dot draws who connects to whom, for
GraphViz.

--compat=script names the process as the original script does: the one on the CPU at
SYN_SENT or LAST_ACK, otherwise at CLOSE. It counts bytes as the kernel does, where a SYN
and a FIN are one each. --compat=bcc does the same, and counts the life from ESTABLISHED,
because the tool overwrites the start at every early state.`,
	Example: "tcplife --port 443",
	Options: slices.Concat(line.StampOptions, []engine.Option{
		{Name: "wide", Short: "w", Kind: engine.Flag, Doc: "wide enough for IPv6, with the IP version and more columns"},
		line.CSVOption}, line.PortOptions, []engine.Option{
		{Name: "unacked", Kind: engine.Flag, Doc: "bytes that the other end never acknowledged, from the calls that sent them"},
		{Name: "dot", Kind: engine.Choice, Implied: "host", Default: "no", Choices: []string{"no", "host", "port", "process"}, Doc: "a graph in DOT with these nodes"}},
		line.FamilyOptions, []engine.Option{{Name: "compat", Kind: engine.Choice, Implied: "script", Default: "no",
			Choices: []string{"no", "script", "bcc"}, Doc: "rule of the original script, or of the BCC tool"}}),
	New: newTcplife,
})

type tcplife struct {
	compat string
	tables *lives
	graph  *sessionGraph
	tail   *unacked
	gaps   *agg.Gaps // in which lives begin and end unseen
	lives  agg.PerSocket[life]
	lines  line.Waiting[session]
	family line.FamilyFilter
	ports  line.PortFilter

	bytes                                           *line.EndBytes
	sessions, shorter, shorterMS, strangers, unsure int64

	Pid, TotalRetrans, SkErr scan.Int
	OldState, NewState, Comm scan.Str
}

func newTcplife(in *engine.Input) engine.Fold {
	f := &tcplife{compat: in.Text("compat"), family: line.NewFamilyFilter(in), ports: line.NewPortFilter(in), bytes: line.NewEndBytes(in)}
	in.Bind(f)
	f.tables = newLives(in, livesLook{line.NewStamp(in, in.Flag("time"), in.Flag("timestamp"), 6), f.compat != "no", in.Flag("wide"), f.compat == "bcc", in.Flag("csv")},
		f.more(in)...)
	if node := in.Text("dot"); node != "no" {
		f.graph = newSessionGraph(in, node)
	}
	f.gaps = in.Gaps(agg.LifeEvents...)
	f.lines.Line, f.lines.Whole = f.line, true
	in.Sockets("the time before it is missing from their lives")
	in.On("tcp_state", f.state)
	in.OnEnd(f.lines.Ended)
	in.OnEnd(f.ended)
	return f
}

// more are the fields of sessions that ended.
func (f *tcplife) more(in *engine.Input) []render.Field[sessionLine] {
	wide := in.Flag("wide")
	fs := []render.Field[sessionLine]{
		render.NumOr("handshake_us", func(s *sessionLine) (int64, bool) { return (s.established - s.birth) / 1000, s.established != 0 }).TextIf(wide, "SYN_US", 8).In("us"),
		render.NumOr("retransmits", func(s *sessionLine) (int64, bool) { return s.retrans, s.resent }).TextIf(wide, "RETR", 5),
		render.Text("closed_by", func(s *sessionLine) string { return s.how }).TextIf(wide, "CLOSED BY", -12),
		render.Num("closed_ns", func(s *sessionLine) int64 { return s.ts }).In("ns"),
	}
	if in.Flag("unacked") {
		f.tail = newUnacked(in)
		fs = append(fs, render.NumOr("unacked_bytes", func(s *sessionLine) (int64, bool) { return s.tail.Tx, s.tail.Known }).Text("UNACKED", 8).In("bytes"))
	}
	return fs
}

// wants reports whether the options select the session.
func (f *tcplife) wants(s *agg.Socket) bool {
	return s.TCP() && f.family.Wants(s.Laddr) && f.ports.Wants(s)
}

// older lists a session that began before the recording.
func (f *tcplife) older(s *agg.Socket, until int64, b line.Traffic) {
	if f.graph != nil {
		f.graph.add(s, until-f.tables.since(s), b)
	} else {
		f.tables.older(s, until, b)
	}
}

// ended lists the sessions that never closed.
func (f *tcplife) ended(s *agg.Socket) {
	if s.Open { // no row follows
		f.lines.Rest()
	}
	if s.Closed != 0 || s.State == "" || s.State == "LISTEN" || s.State == "CLOSE" || f.compat != "no" || !f.wants(s) {
		return
	}
	if f.graph != nil {
		f.graph.add(s, f.tables.in.End()-f.tables.since(s), line.Traffic{})
	} else {
		f.tables.open(s)
	}
}

// Finish lists the sessions that the recording cut and tells the rules apart.
func (f *tcplife) Finish(a *render.Answer) {
	f.lines.Rest()
	if f.graph != nil {
		f.graph.Finish(a)
		return
	}
	f.tables.Finish(a)
	if f.unsure > 0 {
		a.Note("left out, because rows were lost in their lives: " + engine.Plural(f.unsure, "session", "sessions"))
	}
	if f.sessions == 0 {
		return
	}
	rule := map[string]string{"no": "MS runs from the first state change; PID is the socket's owner",
		"script": "--compat=script: MS runs from the first state change; PID is the process on the CPU",
		"bcc":    "--compat=bcc: MS runs from ESTABLISHED; PID is the process on the CPU"}[f.compat]
	a.Note(fmt.Sprintf("%s. From ESTABLISHED, %s of %s would be shorter, by %s ms in total. The process on the CPU is not the owner in %s.",
		rule, engine.Thousands(f.shorter), engine.Thousands(f.sessions), engine.Thousands(f.shorterMS), engine.Thousands(f.strangers)))
}
