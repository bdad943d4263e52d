package engine

import (
	"slices"

	"netrec/analyze/agg"
	"netrec/analyze/scan"
)

// scan reads the recording: once for all analyses, and before that once more if the
// selection has to know the sockets.
func (r *run) scan() error {
	if len(r.inputs) == 0 {
		return nil
	}
	q := r.query()
	r.sock = q.Sock
	if err := r.gaps(); err != nil {
		return err
	}
	if r.sockets != nil {
		if err := r.prove(q); err != nil {
			return err
		}
	}
	if r.sel.through() {
		if err := r.settle(q); err != nil {
			return err
		}
	}
	if r.sockets != nil {
		r.sockets.OnEnd(r.ended)
		if err := r.history(q, r.sockets, r.files); err != nil {
			return err
		}
	}
	n := 0
	var row Row
	err := r.read(q, func(s *scan.Row) error {
		r.row(&row, s)
		// Errors of the output stay; asking now and then is enough to stop early.
		if n++; n&0xfff == 0 {
			return r.out.Err()
		}
		return nil
	})
	if err != nil {
		return err
	}
	r.weight, r.stands = 1, 1
	// Files first: what an analysis says of one may be about its socket.
	if r.files != nil {
		r.files.Close(r.end())
	}
	if r.sockets != nil {
		r.sockets.Close()
	}
	return nil
}

// query is what the scan must deliver to all inputs together.
func (r *run) query() scan.Query {
	q := scan.Query{From: r.sel.From, To: r.sel.To, Sock: r.sel.Sock}
	only := r.inputs[0].onlySock
	for _, in := range r.inputs {
		for _, e := range in.events() {
			q.Events = appendNew(q.Events, e)
		}
		for _, c := range in.cols.All() {
			q.Columns = appendCol(q.Columns, c)
		}
		if in.onlySock != only {
			only = 0
		}
	}
	if q.Sock == 0 {
		q.Sock = only
	}
	if r.sockets != nil {
		for _, e := range slices.Concat(agg.IdentityEvents, agg.IdentityHelp) {
			q.Events = appendNew(q.Events, e)
		}
		for _, c := range r.sockets.Columns() {
			q.Columns = appendCol(q.Columns, c)
		}
	}
	if r.files != nil {
		q.Sock = 0 // forks, ends of processes and polls have no socket
		for _, e := range agg.DescriptorEvents {
			q.Events = appendNew(q.Events, e)
		}
		for _, c := range r.files.Columns() {
			q.Columns = appendCol(q.Columns, c)
		}
	}
	if r.sel.through() {
		r.match = newMatcher(r.sel)
		for _, c := range r.match.columns() {
			q.Columns = appendCol(q.Columns, c)
		}
	}
	for _, in := range r.inputs {
		if in.onlySock != 0 || r.sel.Sock != 0 || r.thin != nil {
			q.Columns = appendCol(q.Columns, sockCol.Col())
		}
	}
	return q
}

func appendCol(cs []scan.Col, c scan.Col) []scan.Col {
	if slices.Contains(cs, c) {
		return cs
	}
	return append(cs, c)
}

// settle reads the recording once to learn who the sockets are.
func (r *run) settle(q scan.Query) error {
	s := agg.SocketsOf(r.src.Meta())
	s.Follow(r.sockets)
	s.OnEnd(r.match.settle)
	if err := r.history(q, s, nil); err != nil {
		return err
	}
	q.Columns = s.Columns()
	if err := r.read(q, func(row *scan.Row) error { s.Feed(row); return nil }); err != nil {
		return err
	}
	s.Close()
	return nil
}

// history feeds what identities need from before the selected time.
func (r *run) history(q scan.Query, s *agg.Sockets, d *agg.Descriptors) error {
	if q.From == 0 {
		return nil
	}
	q.Events, q.Columns, q.From, q.To = slices.Concat(agg.IdentityEvents, agg.IdentityHelp), s.Columns(), 0, q.From
	if d != nil {
		q.Sock = 0 // forks and ends of processes have no socket
		q.Events = slices.Concat(q.Events, agg.DescriptorEvents)
		q.Columns = slices.Concat(q.Columns, d.Columns())
	}
	return r.read(q, func(row *scan.Row) error {
		k := s.Feed(row)
		if d != nil {
			d.Feed(row, k)
		}
		return nil
	})
}
