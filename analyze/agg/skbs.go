package agg

// Skbs follows packets by their address: a life begins where one is allocated
// and ends where it is freed; whatever comes after belongs to another packet.
type Skbs struct{ spans Spans[uint64] }

// Alloc notes the birth of the packet at an address.
func (t *Skbs) Alloc(addr uint64, ts int64) { t.spans.Begin(addr, ts) }

// Free ends the life at an address and gives its birth; false if it was not seen.
func (t *Skbs) Free(addr uint64) (birth int64, ok bool) { return t.spans.End(addr) }

// Reborn is how many packets were born at an address whose last life has no end in
// the recording: they were freed on a path without an event, or the event was lost.
func (t *Skbs) Reborn() int64 { return t.spans.Stale }

// Alive is how many packets have no end yet.
func (t *Skbs) Alive() int { return t.spans.Len() }
