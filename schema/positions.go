package schema

// Positions is how far a TCP connection has come in both directions. They count from where the
// connection began and the rest are distances, so that they hardly take space in the file:
// sequence numbers begin anywhere, and two in each row were a third of it. The change of state to
// ESTABLISHED has snd_nxt and rcv_nxt, which are as far from out_bytes and in_bytes in every row
// of the connection.
type Positions struct {
	Out     uint32 `col:"out_bytes" null:"ones" with:"positions" unit:"bytes" doc:"how far the connection has sent, from its beginning, modulo 2^32; the SYN of the end that connects and a FIN are one each; NULL if the socket is not of TCP"`
	In      uint32 `col:"in_bytes" null:"ones" with:"positions" unit:"bytes" doc:"how far data has come in order, from the beginning, modulo 2^32; a FIN is one"`
	Unsent  int32  `col:"unsent_bytes" null:"ones" with:"positions" unit:"bytes" doc:"data the application has written and TCP has not sent: write_seq minus snd_nxt"`
	Unacked int32  `col:"unacked_bytes" null:"ones" with:"positions" unit:"bytes" doc:"data that is sent and not acknowledged: snd_nxt minus snd_una"`
	Unread  int32  `col:"unread_bytes" null:"ones" with:"positions" unit:"bytes" doc:"data that has come in order and the application has not read: rcv_nxt minus copied_seq; a FIN is one"`
}
