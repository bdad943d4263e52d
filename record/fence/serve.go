package fence

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// Handler answers one kind of question. The files that came with it are closed afterwards,
// those it returns too.
type Handler func(question json.RawMessage, files []*os.File) (reply any, out []*os.File, err error)

// Serve does nothing unless this process was started under the name. Then it does not return:
// it makes ready, which should end in a fence, and answers until whoever started it is gone.
// Every question has a goroutine of its own, so that one that hangs holds no other.
func Serve(name string, ready func() (map[string]Handler, error)) {
	if len(os.Args) != 1 || os.Args[0] != name {
		return
	}
	// Signals that end a whole service are for the recorder.
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	syscall.CloseOnExec(socketFD)
	s := &server{conn: conn{os.NewFile(socketFD, "recorder")}}
	var err error
	if s.handlers, err = ready(); err != nil {
		_ = s.conn.send(&message{Err: err.Error()}, nil, nil) // the answer to no question
		os.Exit(1)
	}
	if err := s.run(); !errors.Is(err, errGone) {
		os.Exit(1)
	}
	os.Exit(0)
}

type server struct {
	conn     conn
	mu       sync.Mutex // one answer at a time
	handlers map[string]Handler
}

func (s *server) run() error {
	for b := make([]byte, maxMessage); ; {
		m, files, err := s.conn.receive(b)
		if err != nil {
			return err
		}
		go s.answer(m, files)
	}
}

// answer serves one question. What a question trips over costs its own answer only.
func (s *server) answer(m *message, files []*os.File) {
	defer closeAll(files)
	var reply any
	var out []*os.File
	err := fmt.Errorf("no such question: %q", m.Do)
	if h := s.handlers[m.Do]; h != nil {
		func() {
			defer func() {
				if p := recover(); p != nil {
					err = fmt.Errorf("read: %v", p)
				}
			}()
			reply, out, err = h(m.Body, files)
		}()
	}
	defer closeAll(out)
	a := &message{ID: m.ID}
	if err != nil {
		a.Err, reply = err.Error(), nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn.send(a, reply, out) != nil {
		_ = s.conn.send(&message{ID: m.ID, Err: "the answer is too long"}, nil, nil)
	}
}
