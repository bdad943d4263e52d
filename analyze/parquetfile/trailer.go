package parquetfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"netrec/analyze/words"
)

// magic begins a Parquet file, and ends it.
const magic = "PAR1"

// trailerSize is the length of the footer, in 4 bytes, and the magic.
const trailerSize = 4 + len(magic)

// LeastSize is what a file has that is nothing but magic and trailer.
const LeastSize = int64(len(magic) + trailerSize)

// ErrNoFooter is for a file that does not end as Parquet does.
var ErrNoFooter = errors.New("no Parquet footer")

// ReadFooter reads the footer at the end of a file of a size, which is LeastSize or more, and
// says where it begins.
func (t *Table) ReadFooter(f io.ReaderAt, size int64) (b []byte, start int64, err error) {
	var trailer [trailerSize]byte
	if _, err := f.ReadAt(trailer[:], size-int64(trailerSize)); err != nil {
		return nil, 0, err
	}
	switch string(trailer[4:]) {
	case magic:
	case "PARE":
		return nil, 0, fmt.Errorf("%w: encryption", ErrUnsupport)
	default:
		return nil, 0, ErrNoFooter
	}
	n := int64(binary.LittleEndian.Uint32(trailer[:]))
	switch {
	case n == 0 || n > size-LeastSize:
		return nil, 0, Damaged("footer of %s in a file of %s", words.Count(n, "byte"), words.Thousands(size))
	case n > t.Limits.Footer:
		return nil, 0, TooLarge("bytes of footer", n, t.Limits.Footer)
	}
	start = size - int64(trailerSize) - n
	b = make([]byte, n)
	_, err = f.ReadAt(b, start)
	return b, start, err
}
