package truth

import (
	"fmt"
	"slices"
	"strings"

	"netrec/internal/bench/vmtest/traffic"
	"netrec/schema"
)

// checkPassed holds descriptors in messages against the log, one by one: which socket,
// which file, under which name. Received sockets are further descriptors too.
func checkPassed(c *Capture, l *traffic.Log) Errors {
	var errs Errors
	rows := c.Select("scm_fd", ofThread(l))
	if len(rows) != len(l.Passed) || len(rows) == 0 {
		errs.add("scm_fd: %d rows, %d descriptors were passed", len(rows), len(l.Passed))
	}
	byCall := hookedBy(c, "scm_fd", schema.Syscall)
	files, received := map[uint64]int64{}, 0
	for i := range min(len(rows), len(l.Passed)) {
		r, p := &rows[i], &l.Passed[i]
		name := strings.TrimPrefix(p.Name, "anon_inode:")
		if p.Type == "socket" || p.Type == "fifo" {
			name = ""
		}
		count, known := r.Int["fds_count"]
		if !known && byCall && p.Dir == "recv" {
			count = int64(p.Count) // a call's result does not tell what it left out
		}
		got := fmt.Sprint(r.Str["dir"], r.Int["fd"], r.Int["fd_passed"], r.Int["nth"], count, r.Int["file_ino"], r.Str["file_type"], r.Str["file_name"])
		want := fmt.Sprint(p.Dir, p.FD, p.Passed, p.Nth, p.Count, p.Inode, p.Type, name)
		if got != want || r.TS < p.Enter || r.TS > p.Exit {
			errs.add("scm_fd row %d: %s at %d, the log has %s from %d to %d", i, got, r.TS, want, p.Enter, p.Exit)
		}
		socket := p.Type == "socket"
		if r.Int["sock"] == 0 || r.Int["peer_sock"] == 0 || r.Int["sock"] == r.Int["peer_sock"] || (r.Int["passed_sock"] != 0) != socket {
			errs.add("scm_fd row %d: not between two sockets: %v", i, r.Int)
		}
		if old, ok := files[p.Inode]; ok && old != r.Int["file"] && p.Type != "0" {
			errs.add("scm_fd row %d: file %#x, another message had the same as %#x", i, uint64(r.Int["file"]), uint64(old))
		}
		files[p.Inode] = r.Int["file"]
		if p.Dir == "recv" && socket {
			received++
			dups := c.Select("fd_dup", ofThread(l), Is("func", "scm_detach_fds"), Num("fd_new", int64(p.Passed)), Between(p.Enter, p.Exit))
			if len(dups) != 1 || dups[0].Int["sock"] != r.Int["passed_sock"] {
				errs.add("fd_dup: %d rows of received descriptor %d", len(dups), p.Passed)
			}
		}
		if len(errs) > 5 {
			return errs
		}
	}
	if n := len(c.Select("fd_dup", ofThread(l), Is("func", "scm_detach_fds"))); n != received || n == 0 {
		errs.add("fd_dup: %d sockets received in messages, the log has %d", n, received)
	}
	return errs
}

// hookedBy says whether an event was seen through a mechanism.
func hookedBy(c *Capture, event string, kind schema.Kind) bool {
	return slices.ContainsFunc(c.Meta.Hooks, func(h schema.EventHooks) bool {
		return h.Event == event && slices.ContainsFunc(h.Hooks, func(s string) bool { return strings.HasPrefix(s, string(kind)+":") })
	})
}

// checkExecs: each new program closed the sockets that were marked for it, and no other.
func checkExecs(c *Capture, l *traffic.Log) Errors {
	var errs Errors
	for _, e := range l.Execs {
		var closed []int
		for _, r := range c.Select("sys_close", Is("func", "exec"), Num("pid", int64(e.PID)), Between(e.Begin, e.End), ofSocket) {
			closed = append(closed, int(r.Int["fd"]))
		}
		slices.Sort(closed)
		slices.Sort(e.Closed)
		if !slices.Equal(closed, e.Closed) {
			errs.add("sys_close: exec in process %d closed %v, marked were %v", e.PID, closed, e.Closed)
		}
	}
	if len(l.Execs) == 0 {
		errs.add("no program was begun")
	}
	return errs
}

// checkFiles holds reads and writes of sockets and of other files against the log.
func checkFiles(c *Capture, l *traffic.Log, owed Expect) Errors {
	if slices.Contains(owed.Missing, "vfs_rw") {
		return nil
	}
	var errs Errors
	for _, f := range l.FileIO {
		rows := c.Select("vfs_rw", ofThread(l), Is("func", f.Func), Is("file_type", f.Type), Num("asked_bytes", traffic.FileIOSize))
		if len(rows) != f.Count || f.Count == 0 {
			errs.add("vfs_rw: %d rows of %s of %s files, the log has %d", len(rows), f.Func, f.Type, f.Count)
		}
	}
	ws := wants(l, "read", "write", "readv", "writev")
	rows := c.Select("vfs_rw", ofThread(l), Is("file_type", "socket"))
	for i := range ws {
		ws[i].fd = -1 // the event has neither
		if i < len(rows) {
			rows[i].Int["ret"] = ws[i].ret
		}
	}
	return append(errs, match("vfs_rw", rows, ws, func(r *Row, w *want) string {
		if r.Str["func"] != "vfs_"+w.call.Name || r.Int["asked_bytes"] != int64(w.call.Asked) || r.Int["sock"] == 0 {
			return "not that call"
		}
		return ""
	})...)
}
