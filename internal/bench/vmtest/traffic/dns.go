package traffic

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// LookupFlag as first argument makes the program [Run] is linked into look a
// name up: see [LookupMain].
const LookupFlag = "-lookup-child"

// answerDelay is how long the name server waits before each answer.
const answerDelay = 20 * time.Millisecond

// LookupMain points the resolver at a file of its own and becomes the program
// that looks a name up. Arguments: the resolver's file, then the program. It
// runs in a mount namespace that [Run] made for it, and returns only with an
// error.
func LookupMain(args []string) error {
	if len(args) < 2 {
		return errors.New("looking a name up: resolver file and program wanted")
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("separating the mounts: %w", err)
	}
	target, err := filepath.EvalSymlinks("/etc/resolv.conf")
	if err != nil {
		return fmt.Errorf("finding the resolver's file: %w", err)
	}
	if err := unix.Mount(args[0], target, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("putting %s over %s: %w", args[0], target, err)
	}
	program, err := exec.LookPath(args[1])
	if err != nil {
		return fmt.Errorf("finding the lookup program: %w", err)
	}
	return syscall.Exec(program, args[1:], os.Environ())
}

// dns looks names up through libc, with getent in child processes, at a name
// server of this process on side B.
func (w *worker) dns() {
	server, err := w.startServer()
	if err != nil {
		w.log.Degraded = append(w.log.Degraded, "dns: "+err.Error()+"; no lookups")
		return
	}
	defer func() {
		if err := server.stop(); err != nil {
			w.fail("name server: %w", err)
		}
	}()
	file, err := os.CreateTemp("", "resolv-")
	if err != nil {
		w.fail("writing a resolver file: %w", err)
	}
	defer os.Remove(file.Name())
	fmt.Fprintf(file, "nameserver %s\noptions timeout:9 attempts:1\n", w.link.addrs[B][0])
	if err := errors.Join(file.Chmod(0o644), file.Close()); err != nil {
		w.fail("writing a resolver file: %w", err)
	}
	for i := range w.want["lookups"] {
		w.lookup(file.Name(), fmt.Sprintf("host%d.both.test", i), "ahosts", map[string]int{"getaddrinfo": 1})
	}
	for i := range w.want["unknown"] {
		w.lookup(file.Name(), fmt.Sprintf("host%d.none.test", i), "ahosts", map[string]int{"getaddrinfo": 1})
	}
	for i := range w.want["gethostbyname"] {
		// getent asks for IPv6 first and, without an answer, for IPv4.
		name, calls := fmt.Sprintf("host%d.both.test", i), 1
		if i%2 == 1 {
			name, calls = fmt.Sprintf("host%d.four.test", i), 2
		}
		w.lookup(file.Name(), name, "hosts", map[string]int{"gethostbyname2": calls})
	}
}

// lookup runs getent in side A.
func (w *worker) lookup(resolv, name, database string, calls map[string]int) {
	w.in(A)
	argv := []string{"getent", database, name}
	cmd := exec.Command("/proc/self/exe", append([]string{LookupFlag, resolv}, argv...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	l := Lookup{Command: argv, Name: name, Calls: calls, DelayMS: int(answerDelay.Milliseconds()), Begin: now()}
	err := cmd.Run()
	l.End, l.Found = now(), err == nil
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 2) {
		w.fail("looking %s up: %w: %s", name, err, strings.TrimSpace(out.String()))
	}
	l.PID = cmd.Process.Pid
	if want := !strings.HasSuffix(name, ".none.test"); l.Found != want {
		w.fail("looking %s up: found is %v: %s", name, l.Found, out.String())
	}
	w.log.Lookups = append(w.log.Lookups, l)
}
