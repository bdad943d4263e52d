package analyze

import "netrec/analyze/agg"

// usage is what a socket did.
type usage struct {
	tx, rx, acked, received, retrans, drops, rows int64

	unknown bool // how many bytes
}

func (u *usage) io(n int64, sent bool) {
	if sent {
		u.tx += n
	} else {
		u.rx += n
	}
}

// usedSock is a socket at the end of its life.
type usedSock struct {
	agg.Socket
	usage
	until int64
}
