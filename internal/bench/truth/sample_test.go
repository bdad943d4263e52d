package truth

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"testing"

	"netrec/schema"
)

// sampled is the hash of docs/filters.md, written down a second time.
func sampled(a, b netip.AddrPort, keep, of, seed uint64) bool {
	mix := func(h uint64) uint64 {
		h = (h ^ h>>32) * 0x9e3779b97f4a7c15
		h = (h ^ h>>29) * 0xd6e8feb86659fd93
		return h ^ h>>32
	}
	end := func(p netip.AddrPort) uint64 {
		b := p.Addr().As16()
		return mix(mix(mix(seed^binary.BigEndian.Uint64(b[:8]))^binary.BigEndian.Uint64(b[8:])) ^ uint64(p.Port()))
	}
	return mix(end(a)+end(b))>>32 < keep<<32/of
}

// The hash keeps about as many as asked for, whichever part of the tuple differs, and the
// same from both ends.
func TestSampleShare(t *testing.T) {
	const of, n = 16, 64_000
	for name, tuple := range map[string]func(i int) (netip.AddrPort, netip.AddrPort){
		"client ports": func(i int) (netip.AddrPort, netip.AddrPort) {
			return netip.MustParseAddrPort(fmt.Sprintf("10.0.0.1:%d", 1000+i)), netip.MustParseAddrPort("10.0.0.2:443")
		},
		"clients": func(i int) (netip.AddrPort, netip.AddrPort) {
			return netip.MustParseAddrPort(fmt.Sprintf("10.0.%d.%d:40000", i/256, i%256)), netip.MustParseAddrPort("10.1.0.2:443")
		},
		"IPv6 clients": func(i int) (netip.AddrPort, netip.AddrPort) {
			return netip.MustParseAddrPort(fmt.Sprintf("[fd00::%x:1]:40000", i)), netip.MustParseAddrPort("[fd00::1]:443")
		},
	} {
		kept := 0
		for i := range n {
			a, b := tuple(i)
			if sampled(a, b, 1, of, 0) != sampled(b, a, 1, of, 0) {
				t.Fatalf("%s: the ends of %s-%s differ", name, a, b)
			}
			if sampled(a, b, 1, of, 0) != (uint64(schema.ConnHash(a, b, 0)) < 1<<32/of) || sampled(a, b, 1, 3, 7) != (uint64(schema.ConnHash(a, b, 7)) < 1<<32/3) {
				t.Fatalf("%s: analyses have another hash of %s-%s", name, a, b)
			}
			if sampled(a, b, 1, of, 0) {
				kept++
			}
		}
		if want := n / of; kept < want*95/100 || kept > want*105/100 {
			t.Errorf("%s: kept %d of %d, want about %d", name, kept, n, want)
		}
	}
}
