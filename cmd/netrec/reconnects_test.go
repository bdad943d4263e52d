package main

import (
	"path/filepath"
	"testing"
	"unsafe"

	"netrec/record/capture"
	"netrec/record/encode"
	"netrec/schema"
)

// reconnectAnswers are the analyses that tell connections of one socket apart.
var reconnectAnswers = []string{"tcplife", "tcpstates", "tcpconnect", "tcpconnect-tp", "tcpaccept-tp", "soconnect"}

// TCP states and errors of the rows below.
const (
	stEstablished, stSynSent, stSynRecv, stClose, stListen = 1, 2, 3, 7, 10
	eAddrNotAvail, eNetUnreach, eBadF                      = 99, 101, 9
)

// reconnects writes rows of calls and changes of state.
type reconnects struct {
	ts   uint64
	rows map[string][]byte
}

func newReconnects() *reconnects { return &reconnects{ts: 1e6, rows: map[string][]byte{}} }

func (w *reconnects) header(sock uint64, pid int32) schema.Header {
	w.ts += 1000
	h := schema.Header{TS: w.ts, Seq: w.ts, Sock: sock, Pid: pid, Tid: pid, Netns: 7}
	copy(h.Comm[:], "curl")
	return h
}

func (w *reconnects) add(event string, row unsafe.Pointer, h *schema.Header) {
	e := schema.ByName(event)
	h.Event = e.ID
	w.rows[event] = append(w.rows[event], unsafe.Slice((*byte)(row), e.Size())...)
}

func (w *reconnects) state(sock uint64, pid int32, lport, rport uint16, from, to uint8, softirq uint8) {
	r := schema.TCPState{Header: w.header(sock, pid), Tuple: schema.Tuple{Laddr: [16]byte{10, 0, 0, 1}, Raddr: [16]byte{10, 0, 0, 2}, Lport: lport, Rport: rport, Family: 2},
		Protocol: 6, OldState: from, NewState: to}
	r.Ctx = softirq
	w.add("tcp_state", unsafe.Pointer(&r), &r.Header)
}

func (w *reconnects) connect(sock uint64, port uint16, family uint16, ret int64, dur int64) {
	r := schema.SysConnect{Header: w.header(sock, 7), Ret: ret, Dur: dur, DestAddr: [16]byte{10, 0, 0, 2}, DestPort: port, Family: family, Type: 1, Protocol: 6, FD: 3}
	if sock == 0 {
		r.Type, r.Protocol = 0, 0xffff
	}
	w.add("sys_connect", unsafe.Pointer(&r), &r.Header)
}

func (w *reconnects) function(sock uint64, lport, rport uint16, ret int64) {
	r := schema.TCPConnectFn{Header: w.header(sock, 7), Tuple: schema.Tuple{Lport: lport, Rport: rport, Family: 2}, Ret: ret}
	if rport != 0 {
		r.Laddr, r.Raddr = [16]byte{10, 0, 0, 1}, [16]byte{10, 0, 0, 2}
	}
	w.add("tcp_connect_fn", unsafe.Pointer(&r), &r.Header)
}

func (w *reconnects) socket(sock uint64) {
	r := schema.SysSocket{Header: w.header(sock, 7), Ret: 3, FD: 3, FD2: -1, Family: 2, Type: 1}
	w.add("sys_socket", unsafe.Pointer(&r), &r.Header)
}

// lateClose records two lives at an address: close(2) of the first returns in the second.
func (w *reconnects) lateClose(sock uint64) {
	for i := range uint16(2) {
		w.socket(sock)
		if i > 0 {
			r := schema.SysClose{Header: w.header(sock, 7), Tuple: schema.Tuple{Laddr: [16]byte{10, 0, 0, 1}, Raddr: [16]byte{10, 0, 0, 2}, Lport: 40010, Rport: 443, Family: 2}, Dur: 2500, FD: 3, FDLast: 3}
			w.add("sys_close", unsafe.Pointer(&r), &r.Header)
		}
		w.state(sock, 7, 0, 443, stClose, stSynSent, 0)
		w.state(sock, 7, 40010+i, 443, stSynSent, stEstablished, 1)
		w.state(sock, 7, 40010+i, 443, stEstablished, stClose, 0)
	}
}

// writeLost records the beginning of one life at an address and the end of another, as if what
// was between was lost: no session is whole.
func writeLost(t *testing.T) string {
	w := newReconnects()
	const sock = 0xffff888000001000
	w.state(sock, 7, 0, 443, stClose, stSynSent, 0)
	w.state(sock, 7, 40020, 443, stSynSent, stEstablished, 1)
	w.state(sock, 7, 40021, 443, stEstablished, stClose, 0)
	w.state(sock+0x1000, 7, 0, 443, stClose, stSynSent, 0) // its own port came with the next change, which is lost
	w.state(sock+0x1000, 7, 40022, 443, stEstablished, stClose, 0)
	return w.write(t)
}

// writeReconnects records a socket that is connected three times, its other ends, one of
// which is reset before it is accepted, and connects that could not begin; with the
// kernel's connect function or without.
func writeReconnects(t *testing.T, function bool) string {
	t.Helper()
	w := newReconnects()
	const client, server, other = 0xffff888000001000, 0xffff888000002000, 0xffff888000003000
	for i := range uint16(3) {
		before := uint16(0)
		if i > 0 {
			before = 40000 + i - 1 // as recorders before this one saw it
		}
		w.state(client, 7, before, 443, stClose, stSynSent, 0)
		if function {
			w.function(client, 40000+i, 443, 0)
		}
		w.state(client, 7, 40000+i, 443, stSynSent, stEstablished, 0)
		w.connect(client, 443, 2, 0, 2500)
		w.state(server, 7, 443, 0, stListen, stSynRecv, 1)
		w.state(server, 7, 443, 40000+i, stSynRecv, stEstablished, 1)
		w.state(client, 7, 40000+i, 443, stEstablished, stClose, 0)
		w.state(client, 7, 40000+i, 443, stClose, stClose, 0)
		w.state(server, 7, 443, 40000+i, stEstablished, stClose, 1)
		w.connect(client, 0, 0, 0, 500)
		a := schema.SysAccept{Header: w.header(server, 80), Tuple: schema.Tuple{Laddr: [16]byte{10, 0, 0, 1}, Raddr: [16]byte{10, 0, 0, 2}, Lport: 443, Rport: 40000 + i, Family: 2}, Ret: 5, Dur: 100, Type: 1, Protocol: 6}
		w.add("sys_accept", unsafe.Pointer(&a), &a.Header)
	}
	for i := range uint16(2) { // without a route
		if function {
			w.function(other, 0, 0, -eNetUnreach)
		}
		w.connect(other, 81+i, 2, -eNetUnreach, 1500)
	}
	w.state(other, 7, 0, 443, stClose, stSynSent, 0) // without a port
	w.state(other, 7, 0, 443, stSynSent, stClose, 0)
	if function {
		w.function(other, 0, 0, -eAddrNotAvail)
	}
	w.connect(other, 443, 2, -eAddrNotAvail, 3500)
	w.connect(0, 80, 2, -eBadF, 500)
	w.lateClose(0xffff888000004000)
	return w.write(t)
}

func (w *reconnects) write(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "reconnects.parquet")
	c, err := capture.Create(file, false, "netrec test")
	must(t, err)
	must(t, c.Set(schema.KeyRecording, schema.Recording{Events: []string{"all"}}))
	enc := encode.New(oddNames{}, 1_700_000_000_000_000_000)
	for event, data := range w.rows {
		must(t, c.Add(enc, encode.Batch{Event: schema.ByName(event), Data: data}))
	}
	must(t, c.Commit())
	must(t, c.Close())
	return file
}
