package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// pty is a terminal of so many columns: what is written to the file it returns can be
// read once close is called.
func pty(t *testing.T, columns uint16) (*os.File, func() string) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("colours and widths are not seen on a terminal: %v", err)
	}
	t.Cleanup(func() { master.Close() })
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(int(slave.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 50, Col: columns}); err != nil {
		t.Fatal(err)
	}
	read := make(chan string)
	go func() {
		var b bytes.Buffer
		_, _ = io.Copy(&b, master) // ends with an error once the other side is closed
		read <- strings.ReplaceAll(b.String(), "\r\n", "\n")
	}()
	return slave, func() string {
		slave.Close()
		return <-read
	}
}

var colours = regexp.MustCompile("\x1b\\[[0-9;]*m")

func TestTerminal(t *testing.T) {
	t.Setenv("NETREC_PAGER", "")
	file := filepathOfSample(t)
	answer := func(columns uint16, args ...string) string {
		tty, said := pty(t, columns)
		if code := run(append([]string{"analyze", file, "--all"}, args...), tty, io.Discard); code != 0 {
			t.Fatalf("exit code %d", code)
		}
		return said()
	}
	var plain bytes.Buffer
	if code := run([]string{"analyze", file, "findings", "socks"}, &plain, io.Discard); code != 0 || colours.MatchString(plain.String()) {
		t.Fatalf("exit code %d, colours where there is no terminal: %v", code, colours.MatchString(plain.String()))
	}
	wide := answer(1000, "findings", "socks")
	if !strings.Contains(wide, "\x1b[1;31mbad: ") || colours.ReplaceAllString(wide, "") != plain.String() {
		t.Errorf("a wide terminal gets other text, or no colours:\n%s", wide)
	}
	t.Setenv("NO_COLOR", "1")
	if got := answer(1000, "findings", "socks"); got != plain.String() {
		t.Errorf("with NO_COLOR:\n%s", got)
	}
	cut, lines := 0, strings.Split(plain.String(), "\n")
	for i, line := range strings.Split(answer(60, "findings", "socks"), "\n") {
		switch {
		case line == lines[i]:
		case utf8.RuneCountInString(line) == 60 && strings.HasSuffix(line, "…") && strings.HasPrefix(lines[i], strings.TrimSuffix(line, "…")):
			cut++
		default:
			t.Errorf("on 60 columns %q became %q", lines[i], line)
		}
	}
	if cut < 20 || !strings.Contains(plain.String(), "next ") {
		t.Errorf("%d lines were cut to 60 columns", cut)
	}
	narrow := answer(60, "findings", "socks")
	t.Setenv("COLUMNS", "60")
	if got := answer(1000, "findings", "socks"); got != narrow {
		t.Errorf("with COLUMNS=60:\n%s", got)
	}
	if got := answer(60, "socks", "--format", "csv"); strings.Contains(got, "…") {
		t.Errorf("csv was cut:\n%s", got)
	}
}

// filepathOfSample is the recording of the binary as a file.
func filepathOfSample(t *testing.T) string {
	t.Helper()
	path := t.TempDir() + "/sample.parquet"
	if err := os.WriteFile(path, sample, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestTerminalIsNotFlooded: what is longer than the screen is cut there, and nowhere else.
func TestTerminalIsNotFlooded(t *testing.T) {
	file := filepathOfSample(t)
	t.Setenv("NETREC_PAGER", "")
	t.Setenv("NO_COLOR", "1")
	for _, args := range [][]string{{"tcplife"}, {"tcpwin"}, {"tcpstates"}, {"profile"}} {
		tty, said := pty(t, 1000)
		if code := run(append([]string{"analyze", file}, args...), tty, io.Discard); code != 0 {
			t.Fatalf("%q: exit code %d", args, code)
		}
		var piped bytes.Buffer
		if code := run(append([]string{"analyze", file}, args...), &piped, io.Discard); code != 0 {
			t.Fatalf("%q: exit code %d", args, code)
		}
		got := said()
		if n := strings.Count(got, "\n"); n > 50 || !strings.Contains(got, "--all shows them") {
			t.Errorf("%q: %d lines on a terminal of 50:\n%s", args, n, got)
		}
		if n := strings.Count(piped.String(), "\n"); n <= 50 || strings.Contains(piped.String(), "--all") {
			t.Errorf("%q: %d lines in a pipe", args, n)
		}
		if strings.HasPrefix(args[0], "tcpwin") && (strings.Count(got, "\n") > 10 || !strings.Contains(got, "> FILE.csv")) {
			t.Errorf("CSV on a terminal:\n%s", got)
		}
	}
}
