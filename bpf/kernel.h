/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* The kernel's structures as far as the probes read them. Field offsets come from
 * the running kernel's BTF when the program is loaded (CO-RE), so order and
 * omissions do not matter here; names and types do. What differs between kernels
 * is in compat.h. An event that needs a further field may declare a flavour of
 * its own in its file: struct sock___name { … }.
 */
#ifndef NETREC_KERNEL_H
#define NETREC_KERNEL_H

#define __VMLINUX_H__ /* bpf_tracing.h: use the kernel's names of registers below */

#include <linux/types.h>
#include <linux/bpf.h>
#include <stdbool.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s32 s32;
typedef __s64 s64;

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct pt_regs {
	unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax, ip, cs, flags, sp, ss;
};

struct trace_entry {
	u16 type;
};

struct trace_event_raw_sys_enter {
	struct trace_entry ent;
	long id;
	unsigned long args[6];
};

struct trace_event_raw_sys_exit {
	struct trace_entry ent;
	long id;
	long ret;
};

typedef struct {
	int counter;
} atomic_t;

typedef struct {
	s64 counter;
} atomic64_t;

struct ns_common {
	unsigned int inum;
};

struct net {
	struct ns_common ns;
};

typedef struct {
	struct net *net;
} possible_net_t;

struct in6_addr {
	union {
		u8 u6_addr8[16];
	} in6_u;
};

struct proto {
	char name[32];
};

struct sock_common {
	union {
		struct {
			__be32 skc_daddr;
			__be32 skc_rcv_saddr;
		};
	};
	union {
		struct {
			__be16 skc_dport;
			u16 skc_num;
		};
	};
	unsigned short skc_family;
	volatile unsigned char skc_state;
	struct proto *skc_prot;
	possible_net_t skc_net;
	struct in6_addr skc_v6_daddr;
	struct in6_addr skc_v6_rcv_saddr;
	atomic64_t skc_cookie;
};

struct inode {
	unsigned short i_mode;
};

struct file {
	void *private_data;
	struct inode *f_inode;
};

struct socket {
	short type;
	struct file *file;
	struct sock *sk;
};

struct sock {
	struct sock_common __sk_common;
	struct {
		atomic_t rmem_alloc;
		int len;
	} sk_backlog;
	int sk_rcvbuf;
	int sk_sndbuf;
	int sk_wmem_queued;
	u16 sk_type;
	u16 sk_protocol;
	int sk_err;
	struct socket *sk_socket;
};

struct inet_sock {
	struct sock sk;
	__be16 inet_sport;
};

struct inet_connection_sock {
	struct inet_sock icsk_inet;
	u8 icsk_ca_state : 5;
};

struct tcp_sock {
	struct inet_connection_sock inet_conn;
	u32 snd_una;
	u32 snd_nxt;
	u32 write_seq;
	u32 snd_wnd;
	u32 rcv_wnd;
	u32 snd_cwnd;
	u32 snd_ssthresh;
	u32 packets_out;
	u32 srtt_us;
	u32 mss_cache;
	u32 segs_in;
	u32 segs_out;
	u64 bytes_acked;
	u64 bytes_received;
	u32 total_retrans;
};

struct net_device {
	possible_net_t nd_net;
};

struct sk_buff {
	struct net_device *dev;
	struct sock *sk;
	char cb[48];
	unsigned int len;
	__be16 protocol;
	u16 transport_header;
	u16 network_header;
	u16 mac_header;
	unsigned char *head;
	unsigned char *data;
};

struct tcp_skb_cb {
	u32 seq;
	u32 end_seq;
};

struct kmem_cache {
	const char *name;
};

struct iov_iter {
	unsigned long count;
};

struct msghdr {
	void *msg_name;
	int msg_namelen;
	struct iov_iter msg_iter;
	unsigned int msg_flags;
};

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

struct nsproxy {
	struct net *net_ns;
};

struct cfs_rq {
	struct rq *rq;
};

struct sched_entity {
	struct cfs_rq *cfs_rq;
};

struct task_struct {
	struct sched_entity se;
	struct files_struct *files;
	struct nsproxy *nsproxy;
};

/* 6.2 to 6.14: the preemption count is in here, not a variable of its own. */
struct pcpu_hot {
	int preempt_count;
};

#pragma clang attribute pop

/* UAPI layouts; user memory, so no relocation. */
struct sockaddr_in {
	u16 sin_family;
	__be16 sin_port;
	__be32 sin_addr;
};

struct sockaddr_in6 {
	u16 sin6_family;
	__be16 sin6_port;
	u32 sin6_flowinfo;
	u8 sin6_addr[16];
};

#define AF_INET 2
#define AF_INET6 10
#define IPPROTO_TCP 6
#define IPPROTO_UDP 17
#define TCP_TIME_WAIT 6
#define TCP_CLOSE 7
#define TCP_NEW_SYN_RECV 12
#define ETH_P_IP 0x0800
#define ETH_P_IPV6 0x86dd
#define S_IFMT 00170000
#define S_IFSOCK 0140000

#endif
