package render

import (
	"bytes"
	"fmt"
	"io"
	"os"
)

// spoolMemory is how much of a waiting answer stays in memory.
const spoolMemory = 1 << 17

// spool keeps bytes in memory, and beyond spoolMemory in an unlinked temporary file.
type spool struct {
	mem  bytes.Buffer
	file *os.File
}

func (s *spool) Write(p []byte) (int, error) {
	if s.file == nil && s.mem.Len()+len(p) <= spoolMemory {
		return s.mem.Write(p)
	}
	if s.file == nil {
		f, err := os.CreateTemp("", "netrec-answer-*")
		if err != nil {
			return 0, fmt.Errorf("open a temporary file for an answer that has to wait: %w", err)
		}
		os.Remove(f.Name())
		s.file = f
	}
	return s.file.Write(p)
}

func (s *spool) copyTo(w io.Writer) error {
	if _, err := w.Write(s.mem.Bytes()); err != nil || s.file == nil {
		return err
	}
	if _, err := s.file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	_, err := io.Copy(w, s.file)
	return err
}

func (s *spool) close() {
	if s != nil && s.file != nil {
		s.file.Close()
	}
}
