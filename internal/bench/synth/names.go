package synth

import (
	"fmt"
	"strings"

	"netrec/schema"
)

// dropReasons stand in for the kernel's, which a schema does not have.
var dropReasons = []schema.EnumValue{{Value: 2, Name: "NOT_SPECIFIED"}, {Value: 3, Name: "NO_SOCKET"}, {Value: 4, Name: "SOCKET_FILTER"},
	{Value: 5, Name: "TCP_OLD_DATA"}, {Value: 6, Name: "QDISC_DROP"}}

// enumValues are the values of an enum, or some where each kernel has its own.
func enumValues(e *schema.Enum) []schema.EnumValue {
	if e == nil || len(e.Values) == 0 {
		return dropReasons
	}
	return e.Values
}

// Functions of the kernel and of programs, by which stacks are made. Addresses are
// positions in these lists.
var (
	kernelNames = []string{"entry_SYSCALL_64_after_hwframe", "do_syscall_64", "__x64_sys_sendto", "__sys_sendto", "sock_sendmsg", "inet_sendmsg",
		"tcp_sendmsg", "tcp_sendmsg_locked", "tcp_write_xmit", "__tcp_transmit_skb", "ip_queue_xmit", "ip_finish_output2", "__dev_queue_xmit",
		"fq_codel_enqueue", "__qdisc_run", "sch_direct_xmit", "dev_hard_start_xmit", "virtnet_poll", "napi_gro_receive", "net_rx_action",
		"handle_softirqs", "common_interrupt", "ip_rcv", "tcp_v4_rcv", "tcp_rcv_established", "sock_recvmsg", "tcp_recvmsg", "skb_copy_datagram_iter",
		"udp_sendmsg", "udp_rcv", "vfs_write", "sock_write_iter", "ep_poll", "schedule", "finish_task_switch", "copy_user_enhanced_fast_string"}
	userNames = []string{"main", "worker", "handle_request", "write_response", "read_request", "parse", "serialize", "event_loop", "__libc_start_main"}
)

const (
	kernelBase = 0xffffffff81000000
	userBase   = 0x0000555500000000
)

// names resolves what records carry as numbers.
type names struct{}

func (names) Enum(e *schema.Enum, v int64) string {
	for _, k := range enumValues(e) {
		if k.Value == v {
			return k.Name
		}
	}
	return e.Lookup(v)
}

func (names) Ref(id uint32) string {
	switch {
	case id == 0:
		return ""
	case id == refKey:
		return schema.KeyRecording
	case id == refFact:
		return fmt.Sprintf(`{"command":["synth"],"start_ns":%d}`, Start)
	case id >= refTPs:
		return countedTPs[int(id-refTPs)%len(countedTPs)]
	case id >= refFuncs:
		return countedFuncs[int(id-refFuncs)%len(countedFuncs)]
	}
	return fmt.Sprintf("/usr/lib/libc.so.%d", id)
}

func (names) Cgroup(id uint32) string {
	if id == 0 {
		return ""
	}
	return fmt.Sprintf("/system.slice/s%d.service", id)
}

func (names) Ksym(addr uint64) string {
	if addr == 0 {
		return ""
	}
	return kernelNames[addr%uint64(len(kernelNames))] + "+0x10"
}

// Stack folds frames, outermost first.
func (names) Stack(user bool, _ int32, _ uint64, frames []uint64) string {
	var b strings.Builder
	list, base := kernelNames, uint64(kernelBase)
	if user {
		list, base = userNames, userBase
	}
	for i := len(frames) - 1; i >= 0; i-- {
		if b.Len() > 0 {
			b.WriteByte(';')
		}
		at := frames[i] - base
		fmt.Fprintf(&b, "%s+0x%x", list[at%uint64(len(list))], 16+at)
	}
	return b.String()
}

// kstack is a kernel stack through the named functions, innermost first.
func (h *host) kstack(path []int) []uint64 {
	h.frames = h.frames[:0]
	for i := len(path) - 1; i >= 0; i-- {
		h.frames = append(h.frames, kernelBase+uint64(path[i]))
	}
	return h.frames
}

// Paths through the kernel, outermost first, as positions in kernelNames.
var (
	pathSend    = []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}
	pathReceive = []int{21, 20, 19, 17, 18, 22, 23, 24}
	pathAnswer  = []int{21, 20, 19, 17, 18, 22, 23, 24, 8, 9, 10, 11, 12, 14, 15, 16}
	pathRead    = []int{0, 1, 25, 26, 27, 35}
	pathWait    = []int{0, 1, 32, 33, 34}
)
