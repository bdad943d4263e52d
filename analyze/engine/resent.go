package engine

import (
	"netrec/analyze/render"
	"netrec/analyze/scan"
)

// Resent counts the segments that rows of tcp_retrans stand for. TCP retransmits buffers,
// which hold many segments where offload cuts them up later; RetransSegs, ss, iperf3 and
// total_retrans count segments, and so does every answer.
type Resent struct {
	Buffers int64 // rows that do not say how many segments, and count as one

	RetransSegs, Err scan.Int
}

// Resent makes the scan read what a row of tcp_retrans says about segments.
func (in *Input) Resent() *Resent {
	f := &Resent{}
	in.Bind(f)
	return f
}

// Segments is how many segments the row retransmitted, 0 if the attempt did not get as far
// as the network layer. A positive result is a packet that this host's own queue dropped:
// TCP counts it.
func (f *Resent) Segments(r *Row) int64 {
	switch {
	case f.Failed(r):
		return 0
	case r.Has(f.RetransSegs):
		return r.Int(f.RetransSegs)
	}
	f.Buffers++
	return 1
}

// Failed reports an attempt that sent nothing, which kernels after 6.12 tell of.
func (f *Resent) Failed(r *Row) bool { return r.Has(f.Err) && r.Int(f.Err) < 0 }

// Noun is what the counts are of.
func (f *Resent) Noun(n int64) string {
	noun := "segment"
	if f.Buffers > 0 {
		noun = "buffer"
	}
	if n != 1 {
		noun += "s"
	}
	return noun
}

// Limit says how far counts may be off, "" if they are right.
func (f *Resent) Limit() string {
	if f.Buffers == 0 {
		return ""
	}
	return "recorded without segment counts: a retransmitted buffer counts as one segment, but may hold several"
}

// Note says so in the answer.
func (f *Resent) Note(a *render.Answer) {
	if s := f.Limit(); s != "" {
		a.Note(s)
	}
}
