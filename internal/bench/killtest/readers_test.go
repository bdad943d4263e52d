package killtest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
)

// pythonEnv names the interpreter for checks with stock readers.
const pythonEnv = "NETREC_PYTHON"

// stock is Python with pyarrow and DuckDB, waiting for paths.
type stock struct {
	in  io.WriteCloser
	out *bufio.Scanner
}

// view is what one reader saw of a file.
type view struct {
	Rows   int64  `json:"rows"`
	Newest int64  `json:"newest"`
	Ret    int64  `json:"ret"` // sum over sock_io
	Error  string `json:"error"`
}

// startStock starts the readers; nil if no interpreter was named. One that was named
// and does not work is a failure.
func startStock(t *testing.T) *stock {
	t.Helper()
	python := os.Getenv(pythonEnv)
	if python == "" {
		t.Logf("left out: whether pyarrow and DuckDB open the files; set %s to a Python that has both", pythonEnv)
		return nil
	}
	cmd := exec.Command(python, "../../../testdata/kill/readers.py")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	must(t, err)
	out, err := cmd.StdoutPipe()
	must(t, err)
	if err := cmd.Start(); err != nil {
		t.Fatalf("%s=%s: %v", pythonEnv, python, err)
	}
	s := &stock{in, bufio.NewScanner(out)}
	if !s.out.Scan() || s.out.Text() != "ready" {
		t.Fatalf("%s=%s: pyarrow and duckdb cannot be imported", pythonEnv, python)
	}
	t.Cleanup(func() {
		in.Close()
		_ = cmd.Wait()
	})
	return s
}

// open asks both readers, by name, for their view of a file.
func (s *stock) open(path string) (map[string]view, error) {
	if _, err := fmt.Fprintln(s.in, path); err != nil {
		return nil, fmt.Errorf("ask stock readers: %w", err)
	}
	if !s.out.Scan() {
		return nil, fmt.Errorf("stock readers ended at %s", path)
	}
	var v map[string]view
	if err := json.Unmarshal(s.out.Bytes(), &v); err != nil {
		return nil, fmt.Errorf("answer of stock readers: %w", err)
	}
	return v, nil
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
