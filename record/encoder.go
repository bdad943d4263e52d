package record

import "netrec/record/encode"

// scratchBytes is how much memory an encoder may keep from one commit to the next. Busy servers take
// 7 to 9 MiB for a full pile.
const scratchBytes = 16 << 20

// encoder is an encoder that is replaced when it holds too much.
type encoder struct {
	*encode.Encoder
	fresh func() *encode.Encoder
}

func newEncoder(names encode.Resolver, monoToWall int64) encoder {
	fresh := func() *encode.Encoder { return encode.New(names, monoToWall) }
	return encoder{fresh(), fresh}
}

// shed follows each commit.
func (e *encoder) shed() {
	if e.Scratch() > scratchBytes {
		e.Encoder = e.fresh()
	}
}
