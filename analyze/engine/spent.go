package engine

import "netrec/schema"

// Spent is what the recorder said it used, at the first and the last of the rows of event cost,
// and how often events were counted that have no row for each.
type Spent struct {
	From, To    int64 // when, ts_ns
	Before, CPU int64 // CPU time since the recorder was started, ns
	RSS         int64 // most memory, bytes
	File        int64 // bytes at the last
	in          *Input
	hits        map[string]int64
}

// Spent makes the scan read what the recorder says about itself.
func (in *Input) Spent() *Spent {
	s := &Spent{in: in, hits: map[string]int64{}}
	user, sys, rss, file := in.Int("user_ns"), in.Int("sys_ns"), in.Int("rss_bytes"), in.Int("file_bytes")
	in.Use("cost", "", func(r *Row) {
		s.To, s.CPU, s.RSS, s.File = r.TS, r.Int(user)+r.Int(sys), max(s.RSS, r.Int(rss)), r.Int(file)
		if s.From == 0 {
			s.From, s.Before = s.To, s.CPU
		}
	})
	count := in.Int("count")
	for i := range schema.Events {
		if e := &schema.Events[i]; e.Counts() {
			in.Use(e.Name, "", func(r *Row) { s.hits[e.Name] += r.Int(count) })
		}
	}
	return s
}

// Total is what the recording cost its host.
func (s *Spent) Total() *schema.Spent {
	m := s.in.Meta
	made, passed := map[string]int64{}, int64(0)
	for _, c := range m.Losses {
		made[c.Event] += c.Lost() - c.Nested // of those the probe did not run
		passed += c.Thinned
	}
	t := &schema.Spent{CPUs: m.Host.CPUs, Length: max(m.LastNS, m.Recording.StopNS) - m.Start(),
		Noted: s.To - s.From, Recorder: s.CPU - s.Before, Bytes: m.OnDisk()}
	t.Probes.More = m.Recording.Picks(m.Hooks) || m.Budget.Least(schema.ClassPackets) > 1
	t.Probes.Pass(passed)
	for i := range schema.Events {
		e := &schema.Events[i]
		n := m.Rows[e.Name] + made[e.Name]
		if e.Counts() {
			n = s.hits[e.Name]
		}
		t.Probes.Add(e, n)
	}
	return t
}
