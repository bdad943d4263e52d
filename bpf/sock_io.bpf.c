//go:build ignore
/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
#include "budget.h"

SITE(sock_sendmsg);
SITE(__sock_sendmsg);

/* 6.1 has one in the other, 5.10 has not: the outer one sees it on both. */
#define BELOW_SOCK_SENDMSG(ctx) within(site_sock_sendmsg, CALLER(ctx, 2, __sock_sendmsg))

/* Without the hooks at the start of a call there is nothing to look up at its end,
 * which would take a third of the probe's time. */
static __always_inline struct call *detail(void)
{
	return cfg_detail ? call_of(EV_sock_io) : 0;
}

/* Facts of a call beyond its result, as far as the hook in use can see them. */
struct io_facts {
	s64 asked;    /* -1 unknown */
	s32 flags;    /* -1 unknown */
	s32 rmem_in;  /* -1 unknown */
	s32 rcvbuf_in; /* -1 unknown */
	struct call *call; /* what a detail hook saw when the call began, or 0 */
};

static __always_inline void fill_dest(struct sock_io *r, struct call *call)
{
	__builtin_memset(r->dest_addr, 0, sizeof(r->dest_addr));
	r->dest_port = 0;
	r->dest_fam = 0;
	if (!call)
		return;
	__builtin_memcpy(r->dest_addr, call->addr, sizeof(r->dest_addr));
	r->dest_port = call->port;
	r->dest_fam = call->family;
}

static __always_inline int sock_io(struct sock *sk, const u8 dir, s64 ret, struct io_facts *f, const bool direct)
{
	u32 netns = sock_netns(sk, direct);
	struct tcp_sock *tp;
	struct sock_io *r;
	struct proto *prot;
	u16 protocol;
	u64 was;

	if (!want_sock(sk, netns) || !hot_row(EV_sock_io, sk, direct))
		return 0;
	protocol = K(sk, sk_protocol);
	tp = protocol == IPPROTO_TCP ? tcp_sk(sk, direct) : 0;
	was = progress_of(tp, direct);
	r = BEGIN(sock_io, sk, 0, netns);
	if (!r)
		return 0;
	fill_tuple(&r->tuple, sk, direct);
	r->cookie = cookie(sk, direct);
	r->socket = (u64)K(sk, sk_socket);
	r->ret = (s32)ret;
	r->asked_bytes = f->asked;
	r->msg_flags = f->flags;
	r->rmem_entry_bytes = f->rmem_in;
	r->rcvbuf_entry_bytes = f->rcvbuf_in;
	fill_dest(r, f->call);
	r->sk_rmem_alloc = K(sk, sk_backlog.rmem_alloc.counter);
	r->sk_rcvbuf = K(sk, sk_rcvbuf);
	r->sock_type = K(sk, sk_type);
	r->protocol = protocol;
	fill_unlocked(&r->h, &r->positions, tp, was, direct);
	r->dir = dir;
	prot = K(sk, __sk_common.skc_prot);
	fill16(r->prot_name, prot->name, direct);
	SUBMIT(r);
	return 0;
}

/* The length tracepoints (6.12) see every family and every message of a batch, but
 * neither the size asked for nor the destination; the detail hooks below leave
 * those in the thread's call, where they ran. */
static __always_inline int length_tp(struct sock *sk, const u8 dir, int ret, int flags)
{
	struct io_facts f = {.asked = -1, .flags = flags, .rmem_in = -1, .rcvbuf_in = -1};
	struct call *call = detail();

	if (call && call->arg[0] == (u64)sk) {
		f.call = call;
		f.asked = call->arg[1];
		f.flags = call->arg[2];
		f.rmem_in = call->rmem;
		f.rcvbuf_in = call->rcvbuf;
	}
	sock_io(sk, dir, ret, &f, true);
	if (call)
		call_end(EV_sock_io);
	return 0;
}

SEC("tp_btf/sock_send_length")
int BPF_PROG(sock_io_send_tp, struct sock *sk, int ret, int flags)
{
	return length_tp(sk, DIR_SEND, ret, -1); /* flags is always 0 on this one */
}

SEC("tp_btf/sock_recv_length")
int BPF_PROG(sock_io_recv_tp, struct sock *sk, int ret, int flags)
{
	return length_tp(sk, DIR_RECV, ret, flags);
}

static __always_inline void kernel_addr(const void *name, struct call *call)
{
	struct sockaddr_in6 sa = {};

	if (!name || bpf_probe_read_kernel(&sa.sin6_family, sizeof(u16), name) || !is_inet(sa.sin6_family))
		return;
	if (bpf_probe_read_kernel(&sa, sa.sin6_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(sa), name))
		return;
	call->family = sa.sin6_family;
	call->port = bpf_ntohs(sa.sin6_port);
	if (sa.sin6_family == AF_INET)
		*(u32 *)call->addr = ((struct sockaddr_in *)&sa)->sin_addr;
	else
		__builtin_memcpy(call->addr, sa.sin6_addr, 16);
}

static __always_inline int remember(struct socket *sock, struct msghdr *msg, u64 size, s32 flags, const bool recv)
{
	struct sock *sk = sock->sk;
	struct call call = {};

	if (!want_sock(sk, sock_netns(sk, true)) || !hot_kept(sk, true))
		return 0;
	call.arg[0] = (u64)sk;
	call.arg[1] = size;
	call.arg[2] = (u64)(s64)flags;
	call.rmem = recv ? sk->sk_backlog.rmem_alloc.counter : -1;
	call.rcvbuf = recv ? sk->sk_rcvbuf : -1;
	if (!recv)
		kernel_addr(msg->msg_name, &call);
	return call_start(EV_sock_io, &call);
}

SEC("fentry/inet_sendmsg")
int BPF_PROG(sock_io_inet_send_in, struct socket *sock, struct msghdr *msg, u64 size)
{
	return remember(sock, msg, size, msg->msg_flags, false);
}

SEC("fentry/inet6_sendmsg")
int BPF_PROG(sock_io_inet6_send_in, struct socket *sock, struct msghdr *msg, u64 size)
{
	return remember(sock, msg, size, msg->msg_flags, false);
}

SEC("fentry/inet_recvmsg")
int BPF_PROG(sock_io_inet_recv_in, struct socket *sock, struct msghdr *msg, u64 size, int flags)
{
	return remember(sock, msg, size, flags, true);
}

SEC("fentry/inet6_recvmsg")
int BPF_PROG(sock_io_inet6_recv_in, struct socket *sock, struct msghdr *msg, u64 size, int flags)
{
	return remember(sock, msg, size, flags, true);
}

/* What is left in the iterator plus what was sent is what was asked for. */
static __always_inline int send_exit(struct socket *sock, struct msghdr *msg, int ret)
{
	struct io_facts f = {.flags = msg->msg_flags, .rmem_in = -1, .rcvbuf_in = -1};
	struct call call = {};

	f.asked = msg->msg_iter.count + (ret > 0 ? ret : 0);
	kernel_addr(msg->msg_name, &call);
	f.call = &call;
	return sock_io(sock->sk, DIR_SEND, ret, &f, true);
}

/* 5.10 and 6.1 have no length tracepoints. __sock_sendmsg sees every send but those
 * of pages, which have sock_sendpage, and those for which the compiler has put it into
 * sock_sendmsg (5.10): io_uring's and the kernel's own. */
SEC("fexit/__sock_sendmsg")
int BPF_PROG(sock_io_send_fexit, struct socket *sock, struct msghdr *msg, int ret)
{
	return BELOW_SOCK_SENDMSG(ctx) ? 0 : send_exit(sock, msg, ret);
}

SEC("fexit/sock_sendmsg")
int BPF_PROG(sock_io_sendmsg_fexit, struct socket *sock, struct msghdr *msg, int ret)
{
	return send_exit(sock, msg, ret);
}

SEC("fexit/sock_sendpage")
int BPF_PROG(sock_io_sendpage_fexit, struct file *file, void *page, int offset, u64 size, void *ppos, int more, s64 ret)
{
	struct io_facts f = {.asked = size, .flags = -1, .rmem_in = -1, .rcvbuf_in = -1};
	struct socket *sock = READ(file, private_data);

	return sock_io(READ(sock, sk), DIR_SEND, ret, &f, false);
}

static __always_inline int recv_exit(struct socket *sock, u64 size, int flags, int ret)
{
	struct io_facts f = {.asked = size, .flags = flags, .rmem_in = -1, .rcvbuf_in = -1};
	struct call *call = detail();

	if (call && call->arg[0] == (u64)sock->sk) {
		f.rmem_in = call->rmem;
		f.rcvbuf_in = call->rcvbuf;
	}
	sock_io(sock->sk, DIR_RECV, ret, &f, true);
	if (call)
		call_end(EV_sock_io);
	return 0;
}

SEC("fexit/inet_recvmsg")
int BPF_PROG(sock_io_inet_recv_fexit, struct socket *sock, struct msghdr *msg, u64 size, int flags, int ret)
{
	return recv_exit(sock, size, flags, ret);
}

SEC("fexit/inet6_recvmsg")
int BPF_PROG(sock_io_inet6_recv_fexit, struct socket *sock, struct msghdr *msg, u64 size, int flags, int ret)
{
	return recv_exit(sock, size, flags, ret);
}

/* Raw sockets of IPv6 have none of the two above. */
SEC("fexit/sock_common_recvmsg")
int BPF_PROG(sock_io_raw_recv_fexit, struct socket *sock, struct msghdr *msg, u64 size, int flags, int ret)
{
	return is_inet(sock->sk->__sk_common.skc_family) ? recv_exit(sock, size, flags, ret) : 0;
}

/* Families without a function of their own here; of a recvmmsg batch this one sees
 * the first message only, so inet is left to the two above. */
SEC("fexit/sock_recvmsg")
int BPF_PROG(sock_io_other_recv_fexit, struct socket *sock, struct msghdr *msg, int flags, int ret)
{
	struct io_facts f = {.asked = msg->msg_iter.count + (ret > 0 ? ret : 0), .flags = flags, .rmem_in = -1, .rcvbuf_in = -1};

	if (is_inet(sock->sk->__sk_common.skc_family))
		return 0;
	return sock_io(sock->sk, DIR_RECV, ret, &f, true);
}
