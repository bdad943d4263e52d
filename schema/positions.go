package schema

// Positions is how far a TCP connection has come in both directions. Of the six sequence
// numbers two are absolute and the others are distances, which hardly take space in the file:
// write_seq is snd_nxt + unsent_bytes, snd_una is snd_nxt - unacked_bytes, copied_seq is
// rcv_nxt - unread_bytes.
type Positions struct {
	SndNxt  uint32 `col:"snd_nxt" null:"ones"`
	RcvNxt  uint32 `col:"rcv_nxt" null:"ones" unit:"sequence" doc:"next sequence number expected from the peer; NULL if the socket is not of TCP"`
	Unsent  int32  `col:"unsent_bytes" null:"ones" unit:"bytes" doc:"data the application has written and TCP has not sent: write_seq minus snd_nxt"`
	Unacked int32  `col:"unacked_bytes" null:"ones" unit:"bytes" doc:"data that is sent and not acknowledged: snd_nxt minus snd_una"`
	Unread  int32  `col:"unread_bytes" null:"ones" unit:"bytes" doc:"data that has come in order and the application has not read: rcv_nxt minus copied_seq; a FIN is one"`
}
