package agg

import (
	"strconv"
	"strings"
)

// PollEntry is one descriptor of a list that a poll row has, or an epoll caller's data.
type PollEntry struct {
	FD     int64
	Data   uint64 // of epoll, where Epoll is set
	Epoll  bool
	Events string // names with | between them
	More   int64  // further entries that the recorder had no room for; nothing else is set then
}

// NextPoll cuts the first entry off a list such as 5:IN|OUT,7:IN,+3. Entries that are not
// of that form are skipped.
func NextPoll(list string) (PollEntry, string, bool) {
	for list != "" {
		word, rest, _ := strings.Cut(list, ",")
		list = rest
		if more, ok := strings.CutPrefix(word, "+"); ok {
			if n, err := strconv.ParseInt(more, 10, 32); err == nil {
				return PollEntry{More: n}, rest, true
			}
			continue
		}
		name, events, _ := strings.Cut(word, ":")
		if hex, ok := strings.CutPrefix(name, "0x"); ok {
			if data, err := strconv.ParseUint(hex, 16, 64); err == nil {
				return PollEntry{Data: data, Epoll: true, Events: events}, rest, true
			}
			continue
		}
		if fd, err := strconv.ParseInt(name, 10, 32); err == nil {
			return PollEntry{FD: fd, Events: events}, rest, true
		}
	}
	return PollEntry{}, "", false
}

// maxInterest bounds what a recording can make Epolls remember.
const maxInterest = 1 << 20

// Epolls ties what epoll_wait gives back, data of the caller's, to the files that were
// put into the epoll instance with it.
type Epolls struct {
	byData map[epollData]interest
	sizes  map[epollID]int64 // files in each instance
	known  map[epollFD]uint64
}

type epollID struct{ pid, epfd int64 }

type epollData struct {
	epollID
	data uint64
}

type epollFD struct {
	epollID
	fd int64
}

type interest struct {
	file   *File
	serial int64
	shared bool // several files have the same data
}

// create begins an instance, empty, whatever one with the same number had.
func (e *Epolls) create(id epollID) {
	for k, data := range e.known {
		if k.epollID == id {
			delete(e.byData, epollData{id, data})
			delete(e.known, k)
		}
	}
}

// Control takes a successful epoll_ctl: ADD, MOD or DEL of the descriptor that leads to f; or
// CREATE of the instance.
func (e *Epolls) Control(op string, pid, epfd, fd int64, data uint64, f *File) {
	if e.byData == nil || len(e.known) >= maxInterest {
		e.byData, e.sizes, e.known = map[epollData]interest{}, map[epollID]int64{}, map[epollFD]uint64{}
	}
	id := epollID{pid, epfd}
	if op == "CREATE" {
		if _, had := e.sizes[id]; had {
			e.create(id)
		}
		e.sizes[id] = 0
		return
	}
	k := epollFD{id, fd}
	old, had := e.known[k]
	if had && (op == "DEL" || old != data) {
		delete(e.byData, epollData{id, old})
	}
	if op == "DEL" {
		if had {
			delete(e.known, k)
			e.sizes[id]--
		}
		return
	}
	if !had {
		e.sizes[id]++
	}
	e.known[k] = data
	if f == nil {
		return
	}
	in := interest{file: f, serial: f.Serial}
	if other, ok := e.byData[epollData{id, data}]; ok && other.file != f && other.file.Serial == other.serial {
		in.shared = true
	}
	e.byData[epollData{id, data}] = in
}

// File is the file that the data stands for, nil if that is not known or several have it.
func (e *Epolls) File(pid, epfd int64, data uint64) *File {
	in, ok := e.byData[epollData{epollID{pid, epfd}, data}]
	if !ok || in.shared || in.file.Serial != in.serial {
		return nil
	}
	return in.file
}

// Seen reports whether anything was put into the instance since the recording began.
func (e *Epolls) Seen(pid, epfd int64) bool {
	_, ok := e.sizes[epollID{pid, epfd}]
	return ok
}

// Size is how many descriptors were put into the instance, as far as was seen.
func (e *Epolls) Size(pid, epfd int64) int64 { return e.sizes[epollID{pid, epfd}] }
