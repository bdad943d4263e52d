package engine

import "netrec/analyze/scan"

// msgPeek is MSG_PEEK: what is read stays, and is read again.
const msgPeek = 2

// Bytes says what send and receive calls moved, by one rule for all that count it.
type Bytes struct {
	Ret, MsgFlags scan.Int
	Dir           scan.Str
}

// Bytes asks for what it takes to tell what calls moved.
func (in *Input) Bytes() *Bytes {
	f := &Bytes{}
	in.Bind(f)
	return f
}

// Sent reports a send; every other call is a receive.
func (b *Bytes) Sent(r *Row) bool { return r.Str(b.Dir) == "send" }

// Peeked reports a receive that only looked: the next one gets the same data. Where the
// hook did not see the flags, none did.
func (b *Bytes) Peeked(r *Row) bool { return r.Int(b.MsgFlags)&msgPeek != 0 && !b.Sent(r) }

// Seen reports whether the hook saw the flags of the call.
func (b *Bytes) Seen(r *Row) bool { return r.Has(b.MsgFlags) }

// Moved is how many bytes the call moved: none if it failed or only looked.
func (b *Bytes) Moved(r *Row) (n int64, sent bool) {
	if b.Peeked(r) {
		return 0, false
	}
	return max(r.Int(b.Ret), 0), b.Sent(r)
}
