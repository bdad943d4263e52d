package line

import "netrec/analyze/agg"

// Usage is what a socket did.
type Usage struct {
	Tx, Rx, Acked, Received, Retrans, Drops, Rows int64

	Unknown bool // how many bytes
}

// IO adds bytes that were sent or received.
func (u *Usage) IO(n int64, sent bool) {
	if sent {
		u.Tx += n
	} else {
		u.Rx += n
	}
}

// UsedSock is a socket at the end of its life.
type UsedSock struct {
	agg.Socket
	Usage
	Until int64
}
