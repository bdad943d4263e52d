package killtest

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"netrec/analyze/scan"
	"netrec/internal/bench/rig"
)

// finding is what a recording holds, compared with the log of the load.
type finding struct {
	rows    int64            // of hooks
	matched int64            // of them, with a call in the log
	lost    int64            // by rows of event lost
	sums    map[string]int64 // rows by event
	kernel  map[string]int64 // rows by the counter that the kernel raised for them, as nstat has it
	wrong   []string
	unended []string // sockets whose last changes of state are missing, with no loss counted
	meta    *scan.Meta
}

var (
	colPid, colTid, colCPU, colSeq     = scan.MustInt("pid"), scan.MustInt("tid"), scan.MustInt("cpu"), scan.MustInt("seq")
	colNetns, colComm, colSock         = scan.MustInt("netns"), scan.MustStr("comm"), scan.MustInt("sock")
	colRet, colDir, colLport, colRport = scan.MustInt("ret"), scan.MustStr("dir"), scan.MustInt("lport"), scan.MustInt("rport")
	colOld, colNew, colCount           = scan.MustStr("old_state"), scan.MustStr("new_state"), scan.MustInt("lost_count")
	colLostEvent, colLostCPU, colCause = scan.MustStr("lost_event"), scan.MustInt("lost_cpu"), scan.MustStr("cause")
	colProt                            = scan.MustStr("prot_name")
)

// truth compares rows with the log, in the order of time.
type truth struct {
	finding
	sides  map[rig.Key]*rig.Side
	at     map[rig.Key]int // calls of each side that rows have passed
	skips  map[rig.Key]int // calls of each side without a row
	offset int64           // wall - monotonic
	netns  int64
	states map[uint64]string   // by socket: the last new_state
	hot    map[int64]int64     // by CPU: the newest seq of the hot ring
	seqs   map[int64][]int64   // by CPU
	losses map[[3]string]int64 // by event, CPU and cause, of the rows
}

// inspect reads a recording and compares every row.
func inspect(sides []*rig.Side, paths ...string) (*truth, error) {
	all, bad := scan.OpenAll(paths, scan.Options{})
	if len(all) != 1 || len(bad) > 0 {
		return nil, fmt.Errorf("%d recordings in %d files, unreadable: %w", len(all), len(paths), errors.Join(bad...))
	}
	f := all[0]
	if err := f.Load(); err != nil {
		return nil, err
	}
	defer f.Close()
	t := &truth{sides: map[rig.Key]*rig.Side{}, at: map[rig.Key]int{}, skips: map[rig.Key]int{}, states: map[uint64]string{},
		hot: map[int64]int64{}, seqs: map[int64][]int64{}, losses: map[[3]string]int64{}}
	meta := *f.Meta() // that of the recording ends with it
	t.sums, t.kernel, t.meta = map[string]int64{}, map[string]int64{}, &meta
	for _, s := range sides {
		t.sides[s.Key] = s
	}
	if len(t.meta.Clock) == 0 {
		t.wrongf("no clock anchor in the file")
		return t, nil
	}
	t.offset = t.meta.Clock[0].Wall - t.meta.Clock[0].Mono
	if err := f.Scan(scan.Query{}, t.row); err != nil {
		return nil, err
	}
	t.sequences()
	return t, nil
}

func (t *truth) wrongf(format string, args ...any) {
	if len(t.wrong) < 10 {
		t.wrong = append(t.wrong, fmt.Sprintf(format, args...))
	}
}

func (t *truth) row(r *scan.Row) error {
	t.sums[r.Event.Name]++
	if r.Event.Name == "lost" {
		t.lost += r.Int(colCount)
		t.losses[[3]string{r.Str(colLostEvent), fmt.Sprint(r.Int(colLostCPU)), r.Str(colCause)}] += r.Int(colCount)
	}
	if r.Event.Own() {
		return nil
	}
	t.rows++
	if name := counterOf(r); name != "" {
		t.kernel[name]++
	}
	cpu, seq := r.Int(colCPU), r.Int(colSeq)
	t.seqs[cpu] = append(t.seqs[cpu], seq)
	if !r.Event.Rare() {
		t.hot[cpu] = max(t.hot[cpu], seq)
	}
	if t.netns == 0 {
		t.netns = r.Int(colNetns)
	}
	// Interrupts are of a CPU, not of a namespace.
	if r.Int(colNetns) != t.netns && r.Event.Name != "softirq" && r.Event.Name != "irq" {
		t.wrongf("%s at %d: netns %d", r.Event.Name, r.TS, r.Int(colNetns))
	}
	key := rig.Key{Event: r.Event.Name, Tid: int(r.Int(colTid)), Dir: r.Str(colDir)}
	if s := t.sides[key]; s != nil {
		t.call(s, r)
	}
	if r.Event.Name == "tcp_state" {
		t.state(r)
	}
	return nil
}

// counterOf is the kernel's counter that went up with a row, "" for none.
func counterOf(r *scan.Row) string {
	switch {
	case r.Event.Name == "tcp_state" && r.Str(colNew) == "SYN_SENT":
		return "TcpActiveOpens"
	case r.Event.Name == "tcp_state" && r.Str(colOld) == "SYN_RECV" && r.Str(colNew) == "ESTABLISHED":
		return "TcpPassiveOpens"
	case r.Event.Name == "sock_io" && r.Str(colProt) == "UDP" && r.Int(colRet) >= 0:
		return map[string]string{"send": "UdpOutDatagrams", "recv": "UdpInDatagrams"}[r.Str(colDir)]
	}
	return ""
}

// call holds a row against the next call of its side; with losses, calls may have no row.
func (t *truth) call(s *rig.Side, r *scan.Row) {
	mono := r.TS - t.offset
	i := t.at[s.Key]
	for i < len(s.Calls) && s.Calls[i].After < mono {
		i++
		t.skips[s.Key]++
	}
	t.at[s.Key] = i + 1
	if i >= len(s.Calls) {
		t.wrongf("%v: row at %d, after the last of %d calls", s.Key, mono, len(s.Calls))
		return
	}
	c := s.Calls[i]
	switch {
	case mono < c.Before:
		t.wrongf("%v: row at %d, call %d began at %d", s.Key, mono, i, c.Before)
	case r.Int(colRet) != c.Ret:
		t.wrongf("%v: call %d: ret %d, the caller saw %d", s.Key, i, r.Int(colRet), c.Ret)
	case int(r.Int(colCPU)) != s.CPU:
		t.wrongf("%v: call %d: CPU %d, pinned to %d", s.Key, i, r.Int(colCPU), s.CPU)
	case r.Int(colPid) != int64(os.Getpid()) || r.Str(colComm) != "netrec-load":
		t.wrongf("%v: call %d: pid %d, comm %q", s.Key, i, r.Int(colPid), r.Str(colComm))
	case s.Lport != 0 && (int(r.Int(colLport)) != s.Lport || int(r.Int(colRport)) != s.Rport):
		t.wrongf("%v: call %d: ports %d and %d, want %d and %d", s.Key, i, r.Int(colLport), r.Int(colRport), s.Lport, s.Rport)
	}
	t.matched++
}

// state checks that sockets go on from the state they were in. One that comes anew without having
// ended is not held against the recording: some kernels run no BPF program in an interrupt of
// their init's threads, and count nothing. Whether all changes are there, truth tests judge.
func (t *truth) state(r *scan.Row) {
	sk, from, to := r.Uint(colSock), r.Str(colOld), r.Str(colNew)
	if last, ok := t.states[sk]; ok && last != from && t.lost == 0 {
		say := fmt.Sprintf("socket %#x: from %s to %s at %d, it was in %s", sk, from, to, r.TS, last)
		if from == "CLOSE" || from == "LISTEN" {
			t.unended = append(t.unended, say)
		} else {
			t.wrongf("%s", say)
		}
	}
	t.states[sk] = to
	if to == "CLOSE" {
		delete(t.states, sk) // the address may come back as another socket
	}
}

// sequences checks that no row is there twice, and that none is missing unless it was
// counted as lost. Rings are drained one after the other, so behind the newest row
// of a CPU's hot ring, rare rows may already be in the file when hot ones are not.
func (t *truth) sequences() {
	var missing int64
	for cpu, seqs := range t.seqs {
		slices.Sort(seqs)
		for i, s := range seqs[1:] {
			if s == seqs[i] {
				t.wrongf("CPU %d: seq %d twice", cpu, s)
			}
			if s <= t.hot[cpu] {
				missing += s - seqs[i] - 1
			}
		}
	}
	if missing > t.lost {
		t.wrongf("%d rows are missing between others, %d were counted as lost", missing, t.lost)
	}
	for key, n := range t.skips {
		if int64(n) > t.lost {
			t.wrongf("%v: %d calls have no row, %d events were counted as lost", key, n, t.lost)
		}
	}
}
