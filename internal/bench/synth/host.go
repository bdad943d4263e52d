package synth

import (
	"math/rand/v2"

	"netrec/schema"
)

// Sizes of the imaginary host.
const (
	cpus     = 8
	netns    = 4026531840
	sockBase = 0xffff888100000000
	skbBase  = 0xffff888200000000
	sockSize = 2368
	skbSize  = 256
)

// process is a program that uses sockets.
type process struct {
	pid  int32
	comm string
}

var programs = []string{"nginx", "postgres", "redis-server", "java", "curl", "node", "python3", "envoy"}

// host is the imaginary machine.
type host struct {
	r      *rand.Rand
	makers map[string]*maker
	all    []*maker // in the order of the schema
	now    int64
	seq    [cpus]uint64
	rows   int64

	procs  []process
	conns  []*conn
	socks  pool
	skbs   pool
	qdisc  uint64
	cookie int64
	port   uint16
	echo   int64
	scans  uint64
	totals map[place]int64 // of the recorder's own counters
	frames []uint64
}

func newHost(seed uint64, start int64) *host {
	h := &host{r: rand.New(rand.NewPCG(seed, 0x6e6574726563)), makers: map[string]*maker{}, now: start, port: 32768, totals: map[place]int64{},
		socks: pool{base: sockBase, size: sockSize}, skbs: pool{base: skbBase, size: skbSize}, qdisc: 0xffff888300000000}
	for i := range schema.Events {
		m := newMaker(&schema.Events[i])
		h.makers[m.event.Name], h.all = m, append(h.all, m)
	}
	for i := range 24 {
		h.procs = append(h.procs, process{int32(1000 + i*7), programs[i%len(programs)]})
	}
	return h
}

// at is where and when a row happens.
type at struct {
	ts   int64
	who  process
	soft bool // in a soft interrupt: who has nothing to do with it
	sock uint64
	skb  uint64
}

// row begins a row of an event.
func (h *host) row(event string, a at) row {
	m := h.makers[event]
	if m == nil {
		panic("synth: no event " + event)
	}
	r := m.add()
	h.rows++
	cpu := int(a.who.pid) % cpus
	ctx := "task"
	if a.soft {
		ctx, cpu = "softirq", int(a.skb>>8)%cpus
	}
	h.seq[cpu]++
	r.num("ts_ns", a.ts).num("seq", int64(h.seq[cpu])).addr("sock", a.sock).addr("skb", a.skb)
	r.num("pid", int64(a.who.pid)).num("tid", int64(a.who.pid)).num("netns", netns).num("event", int64(m.event.ID))
	return r.num("cpu", int64(cpu)).name("ctx", ctx).str("comm", a.who.comm)
}

// someone is whoever happens to be on the CPU.
func (h *host) someone() process { return h.procs[h.r.IntN(len(h.procs))] }

// wait is a random time around the mean, ns, with a long tail.
func (h *host) wait(mean int64) int64 { return 1 + int64(h.r.ExpFloat64()*float64(mean)) }

// pool gives out addresses and reuses those that are free again, oldest first, as a
// slab allocator does after a while.
type pool struct {
	base, size, next uint64
	free             []freed
	head             int
}

type freed struct {
	addr uint64
	ts   int64
}

// get is an address that is free at that time.
func (p *pool) get(now int64) uint64 {
	if p.head == len(p.free) || p.free[p.head].ts >= now {
		p.next++
		return p.base + p.next*p.size
	}
	addr := p.free[p.head].addr
	if p.head++; p.head > 4096 {
		p.free, p.head = append(p.free[:0], p.free[p.head:]...), 0
	}
	return addr
}

// put gives an address back, free from that time on.
func (p *pool) put(addr uint64, ts int64) { p.free = append(p.free, freed{addr, ts}) }
