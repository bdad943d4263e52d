package record

import (
	"cmp"
	"time"
)

// Status is how a recording goes while it runs.
type Status struct {
	Path   string        // of the file that is written now
	Length time.Duration // since the probes began to make rows
	Rows   int64
	Lost   int64
	Bytes  int64
	CPU    float64 // the recorder's part of the host's CPU time
}

// tell gives the status to whoever asked for it.
func (s *session) tell() {
	if s.opt.Status == nil {
		return
	}
	st := Status{Path: cmp.Or(s.path, s.opt.Output), Length: time.Since(s.opened), Rows: s.drain.total, Lost: s.acct.lost(), Bytes: s.writer.size.Load()}
	user, sys := cpuTime()
	st.CPU = float64(user+sys-s.first.UserNS-s.first.SysNS) / (float64(st.Length) * float64(s.report.Host.CPUs))
	s.opt.Status(st)
}
