package main

import (
	"io"
	"os"

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
	if size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ); err == nil {
		t.Width = int(size.Col)
	}
	return t
}
