package render

import (
	"strconv"
	"time"
)

// appendPlain adds a cell as text and CSV show it, without padding or quoting.
func appendPlain(dst []byte, c *Column, v *Cell, text bool) []byte {
	if v.Null {
		return dst
	}
	switch c.Kind {
	case Fixed:
		return appendFixed(dst, v.Num, c.Decimals)
	case Addr:
		return strconv.AppendUint(append(dst, "0x"...), uint64(v.Num), 16)
	case Hex:
		if !text {
			dst = append(dst, "0x"...)
		}
		return strconv.AppendUint(dst, uint64(v.Num), 16)
	case Clock:
		return time.Unix(0, v.Num).UTC().AppendFormat(dst, time.TimeOnly)
	case String, Stack:
		if text {
			return AppendSafe(dst, v.Str)
		}
		return appendCSV(dst, v.Str)
	}
	return strconv.AppendInt(dst, v.Num, 10)
}

// appendFixed adds v / 10^digits with exactly that many digits after the point.
func appendFixed(dst []byte, v int64, digits int) []byte {
	u := uint64(v)
	if v < 0 {
		dst = append(dst, '-')
		u = -u
	}
	div := uint64(1)
	for range digits {
		div *= 10
	}
	dst = strconv.AppendUint(dst, u/div, 10)
	if digits == 0 {
		return dst
	}
	dst = append(dst, '.')
	frac := u % div
	for div /= 10; div > 0; div /= 10 {
		dst = append(dst, byte('0'+frac/div%10))
	}
	return dst
}

// Round divides nanoseconds by unit to a Fixed value of the given digits, to the
// nearest, as printf does. Integer columns of the originals truncate instead.
func Round(ns, unit int64, digits int) int64 {
	for range digits {
		unit /= 10
	}
	if ns < 0 {
		return (ns - unit/2) / unit
	}
	return (ns + unit/2) / unit
}
