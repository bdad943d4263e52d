package record

import (
	"encoding/binary"
	"os"

	"netrec/record/encode"
)

var dumpFile = func() *os.File {
	f, _ := os.OpenFile(os.Getenv("NETREC_DUMP"), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o644)
	return f
}()

func dumpPile(hot [][]encode.Batch, mixed []encode.Batch) {
	if dumpFile == nil {
		return
	}
	var b []byte
	put := func(kind uint32, p []encode.Batch) {
		for _, x := range p {
			b = binary.LittleEndian.AppendUint32(b, kind)
			b = binary.LittleEndian.AppendUint32(b, uint32(x.Event.ID))
			b = binary.LittleEndian.AppendUint32(b, uint32(len(x.Data)))
			b = append(b, x.Data...)
		}
	}
	for i, p := range hot {
		put(uint32(i+1), p)
	}
	put(0, mixed)
	b = binary.LittleEndian.AppendUint32(b, 0xffffffff)
	dumpFile.Write(b)
}
