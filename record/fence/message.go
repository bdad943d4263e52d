package fence

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// maxMessage bounds a message; the longest is a stack with all its names.
const maxMessage = 256 << 10

// maxFiles is how many descriptors come along with a message.
const maxFiles = 32

// message is a question or its answer.
type message struct {
	ID   uint64          `json:"id"`
	Do   string          `json:"do,omitempty"`
	Err  string          `json:"err,omitempty"`
	Body json.RawMessage `json:"body,omitempty"`
}

// errGone is the end of a conversation.
var errGone = errors.New("it has ended")

// conn is one end of a conversation.
type conn struct{ sock *os.File }

// with calls f with the socket, which is not closed meanwhile.
func (c conn) with(f func(sock int) error) error {
	raw, err := c.sock.SyscallConn()
	if err != nil {
		return err
	}
	inner := raw.Control(func(fd uintptr) {
		for err = f(int(fd)); errors.Is(err, unix.EINTR); {
			err = f(int(fd))
		}
	})
	return errors.Join(inner, err)
}

func (c conn) send(m *message, body any, files []*os.File) (err error) {
	if m.Body, err = encode(body); err != nil {
		return err
	}
	b, err := encode(m)
	if err != nil {
		return err
	}
	if len(b) > maxMessage {
		return fmt.Errorf("a message of %d bytes", len(b))
	}
	var rights []byte
	if len(files) > 0 {
		fds := make([]int, len(files))
		for i, f := range files {
			fds[i] = int(f.Fd())
		}
		rights = unix.UnixRights(fds...)
	}
	return c.with(func(sock int) error { return unix.Sendmsg(sock, b, rights, nil, unix.MSG_NOSIGNAL) })
}

// encode is JSON that leaves the angle brackets of C++ as they are.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(b.Bytes()), nil
}

// receive waits for a message, into b.
func (c conn) receive(b []byte) (*message, []*os.File, error) {
	control := make([]byte, unix.CmsgSpace(4*maxFiles))
	var n, cn, flags int
	err := c.with(func(sock int) (err error) {
		n, cn, flags, _, err = unix.Recvmsg(sock, b, control, unix.MSG_CMSG_CLOEXEC)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	if n == 0 {
		return nil, nil, errGone
	}
	files, err := received(control[:cn])
	m := &message{}
	if err == nil && flags&(unix.MSG_TRUNC|unix.MSG_CTRUNC) != 0 {
		err = errors.New("a message that was cut")
	}
	if err == nil {
		err = json.Unmarshal(b[:n], m)
	}
	if err != nil {
		closeAll(files)
		return nil, nil, err
	}
	return m, files, nil
}

// received is the files of a message.
func received(control []byte) (files []*os.File, err error) {
	msgs, err := unix.ParseSocketControlMessage(control)
	if err != nil {
		return nil, err
	}
	for i := range msgs {
		fds, err := unix.ParseUnixRights(&msgs[i])
		if err != nil {
			return files, err
		}
		for _, fd := range fds {
			files = append(files, os.NewFile(uintptr(fd), "received"))
		}
	}
	return files, nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		f.Close()
	}
}
