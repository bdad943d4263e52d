package agg

import "testing"

func TestPacketsForest(t *testing.T) {
	var p Packets
	p.Born(1, 10)
	p.Derived(1, 2, 20, Cloned)
	p.Born(3, 25) // a copy is born before it is known to be one
	p.Derived(2, 3, 30, Copied)
	if s, k := p.Ended(1, false); s == nil || s.Birth != 10 || k != nil {
		t.Errorf("the first of three: %+v, %+v", s, k)
	}
	if s, k := p.Ended(2, true); s == nil || s.Birth != 20 || k != nil {
		t.Errorf("the second of three: %+v, %+v", s, k)
	}
	s, k := p.Ended(3, false)
	if s == nil || s.Birth != 25 || k == nil || k.Birth != 10 || k.Skbs != 3 || k.How != Cloned|Copied || !k.Drop {
		t.Errorf("the last of three: %+v, %+v", s, k)
	}
	if _, k := p.Ended(3, false); k != nil || p.Unborn != 1 {
		t.Errorf("a second end: %+v, %d unborn", k, p.Unborn)
	}
}

func TestPacketsMerge(t *testing.T) {
	var p Packets
	p.Born(1, 10)
	p.Born(2, 11)
	if k := p.Merged(2, MergedGRO); k == nil || k.Birth != 11 || k.How != MergedGRO {
		t.Errorf("merged packet %+v", k)
	}
	if s, k := p.Ended(2, false); s == nil || k != nil {
		t.Errorf("its sk_buff %+v, %+v", s, k)
	}
	if s, k := p.Ended(1, false); s == nil || k == nil || k.Skbs != 1 {
		t.Errorf("the one that took it in: %+v, %+v", s, k)
	}
}

// TestPacketsUnseenEnd: one of two sk_buffs ends unseen, so the end of the packet is
// not known, while the next life at the address is.
func TestPacketsUnseenEnd(t *testing.T) {
	var p Packets
	p.Born(1, 10)
	p.Derived(1, 2, 20, Cloned)
	p.Born(2, 30)
	if _, k := p.Ended(1, false); k != nil {
		t.Errorf("packet %+v, though a part of it may live", k)
	}
	if _, k := p.Ended(2, false); k == nil || k.Birth != 30 || p.Unended != 1 {
		t.Errorf("next life: %+v, %d reborn", k, p.Unended)
	}
	if p.Alive() != 0 {
		t.Errorf("%d alive", p.Alive())
	}
}

// TestPacketsMillionReuses: addresses are reused a million times, and memory is held for
// what is alive.
func TestPacketsMillionReuses(t *testing.T) {
	var p Packets
	for i := range uint64(1_000_000) {
		a := i % 100 * 512
		p.Born(a, int64(i))
		p.Derived(a, a+256, int64(i), Cloned)
		if _, k := p.Ended(a, false); k != nil {
			t.Fatalf("round %d: ended with its clone alive", i)
		}
		if _, k := p.Ended(a+256, false); k == nil || k.Birth != int64(i) || k.Skbs != 2 {
			t.Fatalf("round %d: %+v", i, k)
		}
	}
	if len(p.all) > 1 || len(p.pool) > 2 || p.Unended+p.Unborn != 0 {
		t.Errorf("%d packets and %d sk_buffs held, %d reborn, %d unborn", len(p.all), len(p.pool), p.Unended, p.Unborn)
	}
}
