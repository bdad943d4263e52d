package schema

import (
	"encoding/binary"
	"net/netip"
)

// ConnHash is the number by which --sample and --budget choose connections, the same from both
// ends; docs/filters.md has it in words. A share of 1/N keeps those below 2^32/N.
func ConnHash(a, b netip.AddrPort, seed uint32) uint32 {
	return uint32(mix(endHash(a, seed)+endHash(b, seed)) >> 32)
}

// SockHash is the same of a socket that has not two ends, by its address in the kernel.
func SockHash(sock uint64, seed uint32) uint32 { return uint32(mix(uint64(seed)^sock) >> 32) }

func endHash(e netip.AddrPort, seed uint32) uint64 {
	ip := e.Addr().As16()
	return mix(mix(mix(uint64(seed)^binary.BigEndian.Uint64(ip[:8]))^binary.BigEndian.Uint64(ip[8:])) ^ uint64(e.Port()))
}

func mix(h uint64) uint64 {
	h = (h ^ h>>32) * 0x9e3779b97f4a7c15
	h = (h ^ h>>29) * 0xd6e8feb86659fd93
	return h ^ h>>32
}
