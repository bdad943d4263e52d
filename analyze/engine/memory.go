package engine

import "netrec/analyze/scan"

// read scans as far as memory allows. What comes later is then as if the recording had ended
// there, for all analyses of the pass and for every scan to come.
func (r *run) read(q scan.Query, f func(*scan.Row) error) error {
	if r.full != nil && (q.To == 0 || q.To > r.full.At) {
		q.To = r.full.At + 1
	}
	full, err := scan.Fitted(r.src.Scan(q, f))
	if full != nil && (r.full == nil || full.At < r.full.At) {
		r.full = full
	}
	return err
}

// end is when the recording ended, or what was read of it.
func (r *run) end() int64 {
	m := r.src.Meta()
	end := max(m.LastNS, m.Recording.StopNS)
	if r.full != nil {
		end = min(end, r.full.At)
	}
	return end
}

// part says how much of the recording, or of the selected time, an answer is from.
func (in *Input) part(f *scan.Full) string {
	to := max(in.Meta.LastNS, in.Meta.Recording.StopNS)
	if sel := in.run.sel; sel.To != 0 {
		to = min(to, sel.To)
	}
	return f.Part(max(in.Start(), in.run.sel.From), to)
}
