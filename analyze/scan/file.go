package scan

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"netrec/analyze/parquetfile"
	"netrec/analyze/words"
	"netrec/schema"
)

// File is an open capture. Its methods may be called from several goroutines.
type File struct {
	f      io.ReaderAt
	close  func() error
	o      Options
	table  *parquetfile.Table
	end    int64 // of the bytes that row groups and filters may lie in
	groups []group
	meta   Meta
	framed bool // written by netrec, and every row group checked by its commit's CRC
}

// Open reads and checks what a file says about itself. The caller closes it.
//
// A recording that was killed, is still growing or was damaged opens with what
// is intact, and Meta.Problems says what is not. The size at this moment
// counts: rows that are appended later are not seen.
func Open(path string, o Options) (*File, error) {
	f, size, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	c, err := openReader(f, path, size, o)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	c.close, c.meta.Stored = f.Close, stored(f, size)
	return c, nil
}

func openReader(r io.ReaderAt, path string, size int64, o Options) (_ *File, err error) {
	defer guard("reading", &err)
	f := &File{f: r, o: o.withDefaults(size), end: size}
	f.table = newTable(&f.o)
	f.meta.Path, f.meta.Size, f.meta.Stored = path, size, size
	if err := f.read(); err != nil {
		return nil, err
	}
	return f, nil
}

// openRegular refuses what is not a regular file without waiting for the other
// end of a pipe.
func openRegular(path string) (*os.File, int64, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, 0, err
	}
	st, err := f.Stat()
	if err == nil && !st.Mode().IsRegular() {
		kind := "not a regular file"
		if st.IsDir() {
			kind = "a directory"
		}
		err = fmt.Errorf("open %s: %w: %s", path, ErrNotCapture, kind)
	}
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, st.Size(), nil
}

// stored is how much of a file is on the disk, its size where nobody says.
func stored(f *os.File, size int64) int64 {
	const block = 512 // of stat, whatever the file system's is
	if st, err := f.Stat(); err == nil {
		if s, ok := st.Sys().(*syscall.Stat_t); ok && s.Blocks > 0 {
			return min(size, s.Blocks*block)
		}
	}
	return size
}

// OnDisk is what a recording takes, as the recorder counts it too.
func (m *Meta) OnDisk() int64 { return cmp.Or(m.Stored, m.Size) }

// Meta implements Source.
func (f *File) Meta() *Meta { return &f.meta }

// Close ends the use of the file.
func (f *File) Close() error { return f.close() }

func (f *File) read() error {
	size := f.meta.Size
	if size == 0 {
		return fmt.Errorf("%w: the file is empty", ErrNotCapture)
	}
	head := make([]byte, min(size, int64(schema.FileStart+schema.FrameSize)))
	if _, err := f.f.ReadAt(head, 0); err != nil {
		return err
	}
	if len(head) < len(schema.Magic) || string(head[:len(schema.Magic)]) != schema.Magic {
		return fmt.Errorf("%w: not a Parquet file", ErrNotCapture)
	}
	w := newWalker(f.f, size, &f.o)
	defer w.inflate.Close()
	var kv map[string][]byte
	var err error
	if f.framed, err = w.detect(head); err != nil {
		return err
	}
	if f.framed {
		err = w.walk()
		f.groups, f.meta.Problems, kv = w.groups, w.problems.lines(), w.kv
	} else {
		kv, err = f.readFooter()
	}
	if err != nil {
		return err
	}
	if err := f.describe(); err != nil {
		return err
	}
	return f.decodeMeta(kv)
}

// readFooter reads a plain Parquet file, which some other program wrote.
func (f *File) readFooter() (map[string][]byte, error) {
	size := f.meta.Size
	if size < parquetfile.LeastSize {
		return nil, fmt.Errorf("%w: %s of Parquet", ErrNotCapture, words.Count(size, "byte"))
	}
	b, end, err := f.table.ReadFooter(f.f, size)
	if errors.Is(err, parquetfile.ErrNoFooter) {
		return nil, parquetfile.Damaged("no commit of netrec at its start and no Parquet footer at its end; the file is cut off")
	} else if err != nil {
		return nil, err
	}
	f.end = end
	ft, err := parseFooter(b, f.table, &f.o, true)
	if err != nil {
		return nil, err
	}
	if err := isTable(ft.Leaves); err != nil {
		return nil, err
	}
	if err := parquetfile.CheckPlaces(ft.groups, (*group).parquet, int64(len(schema.Magic)), f.end); err != nil {
		return nil, parquetfile.Damaged("footer: %w", err)
	}
	rows := int64(0)
	for i := range ft.groups {
		rows += int64(ft.groups[i].Rows)
	}
	if rows != ft.Rows {
		return nil, parquetfile.Damaged("footer: %s, but row groups of %s", words.Count(ft.Rows, "row"), words.Thousands(rows))
	}
	f.groups = ft.groups
	return ft.kv, nil
}

// readAll reads n bytes at off in pieces, for checksums.
func readAll(f io.ReaderAt, off, n int64, buf []byte, use func([]byte)) error {
	for n > 0 {
		b := buf[:min(n, int64(len(buf)))]
		if _, err := f.ReadAt(b, off); err != nil {
			if errors.Is(err, io.EOF) {
				return io.ErrUnexpectedEOF
			}
			return err
		}
		use(b)
		off, n = off+int64(len(b)), n-int64(len(b))
	}
	return nil
}
