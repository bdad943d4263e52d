package agg

// Bits of the Nagle flags.
const (
	nagleOff, nagleCork, naglePush = 1, 2, 4
)

// Unsent is what an attempt to send left behind.
type Unsent struct {
	Una, Nxt, Write, Wnd  uint32 // sequence numbers, and the peer's window
	MSS, Out, Cwnd, Flags int64
}

// Followed reports whether the attempt that this is the state after is recorded, and the next of
// its socket, also where only a share of attempts is: nothing was in flight (stuck), or less
// than a segment waits. Of others the next row may be any later one.
func (u Unsent) Followed(stuck bool) bool {
	queued := int64(int32(u.Write - u.Nxt))
	return stuck || queued > 0 && queued < u.MSS
}

// Why is the reason that queued data was not sent, "" if there is none. Sequence
// numbers wrap, so differences decide.
func (u Unsent) Why() string {
	queued, room := int64(int32(u.Write-u.Nxt)), int64(int32(u.Una+u.Wnd-u.Nxt))
	switch {
	case queued <= 0:
		return ""
	case room < min(queued, u.MSS):
		return "peer window"
	case u.Out >= u.Cwnd:
		return "congestion window"
	case queued < u.MSS && u.Flags&(nagleCork|naglePush) == nagleCork:
		return "cork"
	case queued < u.MSS && u.Out > 0 && u.Flags&(nagleOff|naglePush) == 0:
		return "nagle"
	}
	return "pacing or queue limit"
}
