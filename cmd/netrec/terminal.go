package main

import (
	"io"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"netrec/analyze/render"
)

func terminal(f *os.File) bool {
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}

// terminalOf is what text may do on a writer: nothing unless it is a terminal, and
// colours only where nobody asked for none (https://no-color.org).
func terminalOf(w io.Writer) render.Terminal {
	f, ok := w.(*os.File)
	if !ok || !terminal(f) {
		return render.Terminal{}
	}
	t := render.Terminal{Color: os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"}
	t.Cuts, t.Width, t.Height = true, columns(f), heightOf(f)
	return t
}

// columns is how wide a terminal is, 0 if nobody knows. Shells keep COLUMNS to themselves, so
// where it is in the environment somebody wants that width.
func columns(f *os.File) int {
	return fromEnv("COLUMNS", f, func(size *unix.Winsize) uint16 { return size.Col })
}

// heightOf is how high a terminal is, in the same way.
func heightOf(f *os.File) int {
	return fromEnv("LINES", f, func(size *unix.Winsize) uint16 { return size.Row })
}

func fromEnv(name string, f *os.File, of func(*unix.Winsize) uint16) int {
	if n, err := strconv.ParseUint(os.Getenv(name), 10, 15); err == nil && n > 0 {
		return int(n)
	}
	if size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ); err == nil {
		return int(of(size))
	}
	return 0
}
