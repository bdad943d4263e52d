package encode

import (
	"strconv"

	"netrec/schema"
)

// appendBits spells the bits of a number by their names: IN|OUT. Bits without a name follow as
// a number, and no bit at all is 0.
func appendBits(dst []byte, names []schema.EnumValue, v uint64) []byte {
	start := len(dst)
	for _, n := range names {
		bit := uint64(n.Value)
		if v&bit == 0 {
			continue
		}
		if len(dst) > start {
			dst = append(dst, '|')
		}
		dst = append(dst, n.Name...)
		v &^= bit
	}
	if v == 0 && len(dst) > start {
		return dst
	}
	if len(dst) > start {
		dst = append(dst, '|')
	}
	if v == 0 {
		return append(dst, '0')
	}
	return strconv.AppendUint(append(dst, "0x"...), v, 16)
}
