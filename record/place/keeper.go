package place

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"netrec/record/priv"
)

// keeperName is the argv[0] by which the program knows that it is the keeper.
const keeperName = "netrec: keeping files"

// keeperFD is the keeper's end of the conversation, keeperDir the directory.
const (
	keeperFD  = 3
	keeperDir = 4
)

// maxMessage bounds a message of the conversation.
const maxMessage = 8 << 10

// orders are the first message to the keeper.
type orders struct {
	Plan
	UID, GID int // who it is to become
}

// wish is what the recorder asks for.
type wish struct{ Do string }

// reply is what became of it; a file comes along as a descriptor.
type reply struct {
	Path  string
	Err   string
	Errno int // so that the recorder can tell a full disk from others
}

// keptError is an error of the keeper.
type keptError struct {
	text  string
	errno syscall.Errno
}

func (e *keptError) Error() string { return e.text }
func (e *keptError) Unwrap() error { return e.errno }

// Pid implements Files.
func (k *keeper) Pid() uint32 { return uint32(k.cmd.Process.Pid) }

// keeper is the recorder's side.
type keeper struct {
	cmd  *exec.Cmd
	sock *os.File
}

func startKeeper(p Plan, dir *os.File, id priv.Identity) (*keeper, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("talk to the keeper of files: %w", err)
	}
	theirs := os.NewFile(uintptr(pair[1]), "keeper")
	k := &keeper{sock: os.NewFile(uintptr(pair[0]), "keeper")}
	k.cmd = &exec.Cmd{Path: "/proc/self/exe", Args: []string{keeperName}, Stderr: os.Stderr,
		ExtraFiles: []*os.File{keeperFD - 3: theirs, keeperDir - 3: dir}}
	err = k.cmd.Start()
	theirs.Close() // with it in hand, nobody would hear that the keeper is gone
	if err != nil {
		k.sock.Close()
		return nil, fmt.Errorf("start the keeper of files: %w", err)
	}
	if _, _, err := k.say(orders{p, id.UID, id.GID}); err != nil {
		k.Close()
		return nil, fmt.Errorf("start the keeper of files: %w", err)
	}
	return k, nil
}

// say sends a message and waits for the reply.
func (k *keeper) say(m any) (*os.File, string, error) {
	b, err := json.Marshal(m)
	if err != nil {
		return nil, "", err
	}
	if _, err := unix.Write(int(k.sock.Fd()), b); err != nil {
		return nil, "", fmt.Errorf("ask the keeper of files: %w", err)
	}
	b, fd, err := receive(k.sock)
	if err != nil {
		return nil, "", fmt.Errorf("ask the keeper of files: %w", err)
	}
	var f *os.File
	if fd >= 0 {
		f = os.NewFile(uintptr(fd), "capture")
	}
	var r reply
	if err := json.Unmarshal(b, &r); err != nil {
		return f, "", fmt.Errorf("ask the keeper of files: %w", err)
	}
	if r.Err != "" {
		return f, "", &keptError{r.Err, syscall.Errno(r.Errno)}
	}
	return f, r.Path, nil
}

// receive reads a message and the descriptor that comes with it, -1 for none.
func receive(sock *os.File) ([]byte, int, error) {
	b, control := make([]byte, maxMessage), make([]byte, unix.CmsgSpace(4))
	for {
		n, cn, _, _, err := unix.Recvmsg(int(sock.Fd()), b, control, unix.MSG_CMSG_CLOEXEC)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return nil, -1, err
		}
		if n == 0 {
			return nil, -1, errors.New("it is gone")
		}
		msgs, err := unix.ParseSocketControlMessage(control[:cn])
		if err != nil || len(msgs) == 0 {
			return b[:n], -1, err
		}
		fds, err := unix.ParseUnixRights(&msgs[0])
		if err != nil || len(fds) != 1 {
			return b[:n], -1, err
		}
		return b[:n], fds[0], nil
	}
}

func (k *keeper) Begin() (*os.File, string, error) {
	f, path, err := k.say(wish{"begin"})
	if err == nil && f == nil {
		err = errors.New("the keeper of files sent no file")
	}
	return f, path, err
}

func (k *keeper) do(what string) error {
	_, _, err := k.say(wish{what})
	return err
}

func (k *keeper) Publish() error { return k.do("publish") }
func (k *keeper) Prune() error   { return k.do("prune") }
func (k *keeper) Discard()       { _ = k.do("discard") } // a keeper that is gone has done it

// Close ends the keeper, which discards what was not published.
func (k *keeper) Close() error {
	k.sock.Close()
	return k.cmd.Wait()
}

// Init must be called first in main. In the keeper it does not return; in any other
// process it does nothing.
func Init() {
	if len(os.Args) != 1 || os.Args[0] != keeperName {
		return
	}
	if err := keep(os.NewFile(keeperFD, "recorder"), os.NewFile(keeperDir, "captures")); err != nil {
		fmt.Fprintf(os.Stderr, "netrec: keeper of files: %v\n", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// keep serves until the recorder is gone. Signals that end a whole service are for the
// recorder, which needs the keeper until it has ended.
func keep(sock, dir *os.File) error {
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	var o orders
	b, _, err := receive(sock)
	if err == nil {
		err = json.Unmarshal(b, &o)
	}
	if err != nil {
		return fmt.Errorf("orders: %w", err)
	}
	if err := priv.Become(priv.Identity{UID: o.UID, GID: o.GID}); err != nil {
		return err
	}
	l := &local{Plan: o.Plan, dir: dir, now: time.Now}
	defer l.Close()
	for r, f := (reply{}), (*os.File)(nil); ; {
		if !answer(sock, r, f) {
			return nil // the recorder is gone
		}
		b, _, err := receive(sock)
		if err != nil {
			return nil
		}
		var w wish
		if err := json.Unmarshal(b, &w); err != nil {
			return err
		}
		r, f = l.serve(w)
	}
}

func (l *local) serve(w wish) (reply, *os.File) {
	var f *os.File
	var path string
	var err error
	switch w.Do {
	case "begin":
		f, path, err = l.Begin()
	case "publish":
		err = l.Publish()
	case "prune":
		err = l.Prune()
	case "discard":
		l.Discard()
	default:
		err = fmt.Errorf("no such wish: %q", w.Do)
	}
	r := reply{Path: path}
	if err != nil {
		r.Err = err.Error()
		var errno syscall.Errno
		if errors.As(err, &errno) {
			r.Errno = int(errno)
		}
	}
	return r, f
}

// answer sends a reply, and closes the keeper's own end of the file in it.
func answer(sock *os.File, r reply, f *os.File) bool {
	b, err := json.Marshal(r)
	if err != nil || len(b) > maxMessage {
		return false
	}
	var rights []byte
	if f != nil {
		defer f.Close()
		rights = unix.UnixRights(int(f.Fd()))
	}
	return unix.Sendmsg(int(sock.Fd()), b, rights, nil, 0) == nil
}
