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

#include "machine.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

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

typedef struct {
	atomic_t refs;
} refcount_t;

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
		__be16 u6_addr16[8];
	} in6_u;
};

struct proto {
	char name[32];
	long *sysctl_mem;
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
	unsigned char skc_reuse : 4;
	unsigned char skc_reuseport : 1;
	int skc_bound_dev_if;
	struct proto *skc_prot;
	possible_net_t skc_net;
	struct in6_addr skc_v6_daddr;
	struct in6_addr skc_v6_rcv_saddr;
	atomic64_t skc_cookie;
	union {
		unsigned long skc_flags;
		struct sock *skc_listener;
	};
};

struct kernfs_node {
	u64 id;
};

struct cgroup_subsys_state {
	struct cgroup *cgroup;
	struct cgroup_subsys_state *parent;
};

struct cgroup {
	struct cgroup_subsys_state self;
	struct kernfs_node *kn;
};

struct css_set {
	struct cgroup *dfl_cgrp;
};

struct sock_cgroup_data {
	struct cgroup *cgroup;
};

typedef struct {
	unsigned int val;
} kuid_t;

struct inode {
	unsigned short i_mode;
	unsigned long i_ino;
};

struct qstr {
	const unsigned char *name;
};

struct dentry {
	struct dentry *d_parent;
	struct qstr d_name;
};

struct vfsmount {
	struct dentry *mnt_root;
};

struct mount {
	struct mount *mnt_parent;
	struct dentry *mnt_mountpoint;
	struct vfsmount mnt;
};

struct path {
	struct vfsmount *mnt;
	struct dentry *dentry;
};

struct file {
	void *private_data;
	struct inode *f_inode;
	struct path f_path;
};

typedef enum { SS_FREE, SS_UNCONNECTED, SS_CONNECTING, SS_CONNECTED, SS_DISCONNECTING } socket_state;

struct socket {
	socket_state state;
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
	refcount_t sk_wmem_alloc;
	int sk_wmem_queued;
	u16 sk_type;
	u16 sk_protocol;
	int sk_err;
	u32 sk_ack_backlog;
	u32 sk_max_ack_backlog;
	struct socket *sk_socket;
	kuid_t sk_uid;
	struct sock_cgroup_data sk_cgrp_data;
};

struct unix_sock {
	struct sock sk;
	struct sock *peer;
};

struct request_sock {
	struct sock_common __req_common;
	u8 num_retrans;
};

struct request_sock_queue {
	atomic_t qlen;
};

struct proto_accept_arg {
	int err;
};

struct inet_sock {
	struct sock sk;
	__be16 inet_sport;
};

struct inet_connection_sock {
	struct inet_sock icsk_inet;
	struct request_sock_queue icsk_accept_queue;
	u8 icsk_ca_state : 5;
};

struct minmax_sample {
	u32 v;
};

struct minmax {
	struct minmax_sample s[3];
};

struct tcp_sock {
	struct inet_connection_sock inet_conn;
	u32 rcv_nxt;
	u32 copied_seq;
	u32 snd_una;
	u32 snd_nxt;
	u32 write_seq;
	u32 snd_wnd;
	u32 rcv_wnd;
	u32 snd_cwnd;
	u32 snd_ssthresh;
	u32 packets_out;
	u32 retrans_out;
	u32 lost_out;
	u32 sacked_out;
	u32 tlp_high_seq;
	u32 srtt_us;
	u32 mss_cache;
	u32 segs_in;
	u32 segs_out;
	u64 bytes_sent;
	u64 bytes_acked;
	u64 bytes_received;
	u32 total_retrans;
	u32 delivered;
	u32 reordering;
	u32 chrono_stat[3];
	struct minmax rtt_min;
};

struct net_device {
	char name[16];
	int ifindex;
	possible_net_t nd_net;
};

struct dst_entry {
	struct net_device *dev;
};

struct sk_buff {
	struct sk_buff *next;
	struct net_device *dev;
	unsigned long _skb_refdst;
	struct sock *sk;
	char cb[48];
	unsigned int len;
	unsigned int data_len;
	u16 queue_mapping;
	u8 cloned : 1;
	u8 encapsulation : 1;
	u16 inner_network_header;
	__be16 protocol;
	u16 transport_header;
	u16 network_header;
	u16 mac_header;
	unsigned int end;
	unsigned char *head;
	unsigned char *data;
	unsigned int truesize;
};

struct skb_shared_info {
	unsigned short gso_size;
	unsigned short gso_segs;
};

struct netdev_queue {
	struct net_device *dev;
};

struct Qdisc_ops {
	char id[16];
};

struct qdisc_skb_head {
	u32 qlen;
};

struct gnet_stats_queue {
	u32 backlog;
};

struct Qdisc {
	const struct Qdisc_ops *ops;
	u32 handle;
	u32 parent;
	struct netdev_queue *dev_queue;
	struct qdisc_skb_head q;
	struct gnet_stats_queue qstats;
};

struct irqaction {
	const char *name;
};

struct tcp_skb_cb {
	u32 seq;
	u32 end_seq;
	u32 ack_seq;
	u16 tcp_gso_segs;
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
	void *msg_control;
	unsigned int msg_flags;
	unsigned long msg_controllen;
};

#define SCM_MAX_FD 253

struct scm_fp_list {
	short count;
	struct file *fp[SCM_MAX_FD];
};

struct scm_cookie {
	struct scm_fp_list *fp;
};

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
	unsigned long *close_on_exec;
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

struct signal_struct {
	atomic_t live;
};

struct task_struct {
	void *stack;
	struct sched_entity se;
	int tgid;
	unsigned int flags;
	struct task_struct *group_leader;
	char comm[16];
	struct signal_struct *signal;
	struct files_struct *files;
	struct nsproxy *nsproxy;
	struct css_set *cgroups;
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

#define AF_UNSPEC 0
#define AF_UNIX 1
#define AF_INET 2
#define AF_INET6 10
#define IPPROTO_ICMP 1
#define IPPROTO_IPIP 4
#define IPPROTO_TCP 6
#define IPPROTO_UDP 17
#define IPPROTO_IPV6 41
#define IPPROTO_FRAGMENT 44
#define IPPROTO_GRE 47
#define IPPROTO_ESP 50
#define IPPROTO_ICMPV6 58
#define IPPROTO_DSTOPTS 60
#define TCP_ESTABLISHED 1
#define TCP_SYN_SENT 2
#define TCP_SYN_RECV 3
#define TCP_TIME_WAIT 6
#define TCP_CLOSE 7
#define TCP_LISTEN 10
#define TCP_NEW_SYN_RECV 12
#define ETH_P_IP 0x0800
#define ETH_P_TEB 0x6558
#define ETH_P_IPV6 0x86dd
#define S_IFMT 00170000
#define PF_KTHREAD 0x00200000
#define PF_IO_WORKER 0x00000010 /* a thread of io_uring, of the process that has the ring */
#define S_IFSOCK 0140000
#define S_IFIFO 0010000
#define S_IFSHIFT 12

#endif
