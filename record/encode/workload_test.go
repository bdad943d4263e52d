package encode

import (
	"fmt"
	"math/rand/v2"
	"unsafe"

	"netrec/schema"
)

// A workload as a busy server makes it: some hundred sockets, a few dozen threads,
// four CPUs, drained in the order of time.
const (
	loadRows    = 1 << 16
	loadSockets = 300
)

var loadComms = []string{"nginx", "nginx", "nginx", "postgres", "redis-server", "swapper/0", "swapper/3", "ksoftirqd/1"}

type load struct {
	r   *rand.Rand
	ts  uint64
	seq [4]uint64
}

func newLoad() *load { return &load{r: rand.New(rand.NewPCG(7, 11)), ts: 5e12} }

func (l *load) header(event string, sock int) schema.Header {
	l.ts += 1 + uint64(l.r.ExpFloat64()*4000)
	cpu, who := l.r.IntN(4), l.r.IntN(len(loadComms))
	l.seq[cpu]++
	h := schema.Header{TS: l.ts, Seq: l.seq[cpu], CPU: uint16(cpu), Event: schema.ByName(event).ID, Netns: 4026531840,
		Sock: 0xffff888100000000 + uint64(sock)*2368, Pid: int32(1000 + who), Tid: int32(1000 + who*4 + l.r.IntN(3)), Ctx: uint8(who / 6)}
	copy(h.Comm[:], loadComms[who])
	return h
}

// raw is the memory of the rows, which is what the ring delivers.
func raw[T any](rows []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(&rows[0])), len(rows)*int(unsafe.Sizeof(rows[0])))
}

func rcvEstRows() []schema.TCPRcvEst {
	l, rows := newLoad(), make([]schema.TCPRcvEst, loadRows)
	var una [loadSockets]uint32
	for i := range rows {
		s := l.r.IntN(loadSockets)
		una[s] += uint32(l.r.IntN(3)) * 1448
		rows[i] = schema.TCPRcvEst{Header: l.header("tcp_rcv_est", s), Cookie: int64(s + 1), SndUna: una[s] + uint32(s)*77777,
			SndNxt: una[s] + uint32(s)*77777 + uint32(l.r.IntN(10))*1448, SndWnd: 65535 << (s % 3), RcvWnd: uint32(64000 + l.r.IntN(20)*1024),
			SndCwnd: int32(10 + l.r.IntN(60)), SndSsthresh: 0x7fffffff, SkSndbuf: 87040, SkWmemQueued: int32(l.r.IntN(40)) * 2304,
			SkRmemAlloc: int32(l.r.IntN(30)) * 768, PacketsOut: int32(l.r.IntN(10)), SRTT: int32(200 + l.r.IntN(4000)), CaState: uint8(l.r.IntN(50) / 48)}
		rows[i].Skb = 0xffff888200000000 + uint64(l.r.IntN(1500))*256
	}
	return rows
}

func sockIORows() []schema.SockIO {
	l, rows := newLoad(), make([]schema.SockIO, loadRows)
	for i := range rows {
		s := l.r.IntN(loadSockets)
		rows[i] = schema.SockIO{Header: l.header("sock_io", s), Cookie: int64(s + 1), Socket: 0xffff888300000000 + uint64(s)*832,
			Ret: int64(l.r.IntN(16384)), Asked: 16384, MsgFlags: 0x40, Rmem: -1, RmemIn: -1, Rcvbuf: 131072, Type: 1, Protocol: 6, Dir: uint8(i & 1)}
		rows[i].Laddr = [16]byte{10, 0, 0, 1}
		rows[i].Raddr = [16]byte{10, 0, byte(s >> 8), byte(s)}
		rows[i].Lport, rows[i].Rport, rows[i].Family = 443, uint16(30000+s), 2
		copy(rows[i].Prot[:], "TCP")
	}
	return rows
}

func skbConsumeRows() []schema.SkbConsume {
	l, rows := newLoad(), make([]schema.SkbConsume, loadRows)
	for i := range rows {
		rows[i] = schema.SkbConsume{Header: l.header("skb_consume", 0), Location: 0xffffffff81000000 + uint64(l.r.IntN(12))*64}
		rows[i].Sock = 0
		rows[i].Skb = 0xffff888200000000 + uint64(l.r.IntN(1500))*256
	}
	return rows
}

// Rows as parquet-go's typed writer takes them: the columns of one event, with
// strings made beforehand and the encodings that Group chooses for this workload.

type narrowHeader struct {
	TsNS  int64  `parquet:"ts_ns,delta"`
	Ts    int64  `parquet:"ts,delta"`
	Event string `parquet:"event,dict"`
	CPU   int32  `parquet:"cpu,dict"`
	Seq   int64  `parquet:"seq,delta"`
	Pid   int32  `parquet:"pid,dict"`
	Tid   int32  `parquet:"tid,dict"`
	Comm  string `parquet:"comm,dict"`
	Ctx   string `parquet:"ctx,dict"`
	Netns int64  `parquet:"netns,dict"`
	Sock  uint64 `parquet:"sock,dict"`
	Skb   uint64 `parquet:"skb,dict"`
}

func narrow(h *schema.Header, comm string) narrowHeader {
	return narrowHeader{TsNS: int64(h.TS) + wall, Ts: (int64(h.TS) + wall) / 1000, Event: schema.ByID(h.Event).Name, CPU: int32(h.CPU),
		Seq: int64(h.Seq), Pid: h.Pid, Tid: h.Tid, Comm: comm, Ctx: schema.Enums["ctx"].Lookup(int64(h.Ctx)), Netns: int64(h.Netns),
		Sock: h.Sock, Skb: h.Skb}
}

func comm(b [16]byte) string {
	for i, c := range b {
		if c == 0 {
			return string(b[:i])
		}
	}
	return string(b[:])
}

type narrowRcvEst struct {
	narrowHeader
	Cookie       int64  `parquet:"cookie,dict"`
	SndUna       int64  `parquet:"snd_una,delta"`
	SndNxt       int64  `parquet:"snd_nxt,delta"`
	SndWnd       int64  `parquet:"snd_wnd,dict"`
	RcvWnd       int64  `parquet:"rcv_wnd,dict"`
	SndCwnd      int32  `parquet:"snd_cwnd,dict"`
	SndSsthresh  int32  `parquet:"snd_ssthresh,dict"`
	SkSndbuf     int32  `parquet:"sk_sndbuf,dict"`
	SkWmemQueued int32  `parquet:"sk_wmem_queued,dict"`
	SkRmemAlloc  int32  `parquet:"sk_rmem_alloc,dict"`
	PacketsOut   int32  `parquet:"packets_out,dict"`
	SRTT         int32  `parquet:"srtt_us,dict"`
	CaState      string `parquet:"ca_state,dict"`
}

func narrowRcvEsts(rows []schema.TCPRcvEst) []narrowRcvEst {
	out := make([]narrowRcvEst, len(rows))
	for i := range rows {
		r := &rows[i]
		out[i] = narrowRcvEst{narrow(&r.Header, comm(r.Comm)), r.Cookie, int64(r.SndUna), int64(r.SndNxt), int64(r.SndWnd), int64(r.RcvWnd),
			r.SndCwnd, r.SndSsthresh, r.SkSndbuf, r.SkWmemQueued, r.SkRmemAlloc, r.PacketsOut, r.SRTT, schema.Enums["ca_state"].Lookup(int64(r.CaState))}
	}
	return out
}

type narrowSockIO struct {
	narrowHeader
	Laddr    string `parquet:"laddr,dict"`
	Raddr    string `parquet:"raddr,dict"`
	Lport    int32  `parquet:"lport,dict"`
	Rport    int32  `parquet:"rport,dict"`
	Family   string `parquet:"family,dict"`
	Cookie   int64  `parquet:"cookie,dict"`
	Socket   uint64 `parquet:"socket,dict"`
	Ret      int64  `parquet:"ret,delta"`
	Asked    int64  `parquet:"asked_bytes,dict"`
	DestAddr string `parquet:"dest_addr,dict"`
	DestPort int32  `parquet:"dest_port,dict"`
	MsgFlags int32  `parquet:"msg_flags,dict"`
	Rmem     int32  `parquet:"sk_rmem_alloc,dict"`
	RmemIn   int32  `parquet:"rmem_entry_bytes,dict"`
	Rcvbuf   int32  `parquet:"sk_rcvbuf,dict"`
	Type     string `parquet:"sock_type,dict"`
	Protocol string `parquet:"protocol,dict"`
	Dir      string `parquet:"dir,dict"`
	Prot     string `parquet:"prot_name,dict"`
}

func narrowSockIOs(rows []schema.SockIO) []narrowSockIO {
	out := make([]narrowSockIO, len(rows))
	for i := range rows {
		r := &rows[i]
		out[i] = narrowSockIO{narrow(&r.Header, comm(r.Comm)), "10.0.0.1", fmt.Sprintf("10.0.%d.%d", r.Raddr[2], r.Raddr[3]), int32(r.Lport),
			int32(r.Rport), "inet", r.Cookie, r.Socket, r.Ret, r.Asked, "", 0, r.MsgFlags, r.Rmem, r.RmemIn, r.Rcvbuf, "stream", "tcp",
			schema.Enums["dir"].Lookup(int64(r.Dir)), "TCP"}
	}
	return out
}

type narrowSkbConsume struct {
	narrowHeader
	Location string `parquet:"location,dict"`
}

func narrowSkbConsumes(rows []schema.SkbConsume) []narrowSkbConsume {
	out := make([]narrowSkbConsume, len(rows))
	for i := range rows {
		out[i] = narrowSkbConsume{narrow(&rows[i].Header, comm(rows[i].Comm)), fmt.Sprintf("sym_%x", rows[i].Location)}
	}
	return out
}
