/* Connects, accepts, sends and receives by every door of the kernel, each to a port of its
 * own: calls that wait when the recording begins, io_uring with and without a thread that
 * submits, 32-bit system calls, raw IPv6. It says "ready" when its calls wait, goes on when it
 * is told to, and says "done". All counts are odd, or those that could be mixed up differ. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <linux/io_uring.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { WAITED = 4801, DATAGRAM, URING, SQPOLL, COMPAT, URING_UDP, REFUSED };

static void need(int ok, const char *what)
{
	if (!ok) {
		perror(what);
		exit(1);
	}
}

static struct sockaddr_in at(int port)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port)};

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return a;
}

static int server(int port, int type)
{
	int fd = socket(AF_INET, type, 0), on = 1;
	struct sockaddr_in a = at(port);

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	need(!bind(fd, (void *)&a, sizeof(a)), "bind");
	need(type == SOCK_DGRAM || !listen(fd, 16), "listen");
	return fd;
}

/* --- a ring --- */

struct ring {
	int fd;
	unsigned *sq_tail, *sq_mask, *sq_array, *sq_flags, *cq_head, *cq_tail, *cq_mask;
	struct io_uring_sqe *sqes;
	struct io_uring_cqe *cqes;
	int polled;
};

static struct ring ring_new(unsigned flags)
{
	struct io_uring_params p = {.flags = flags, .sq_thread_idle = 2000};
	struct ring r = {.polled = !!(flags & IORING_SETUP_SQPOLL)};
	char *sq, *cq;

	r.fd = syscall(SYS_io_uring_setup, 8, &p);
	need(r.fd >= 0, "io_uring_setup");
	sq = mmap(0, p.sq_off.array + p.sq_entries * 4, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, r.fd, IORING_OFF_SQ_RING);
	cq = mmap(0, p.cq_off.cqes + p.cq_entries * sizeof(struct io_uring_cqe), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, r.fd, IORING_OFF_CQ_RING);
	r.sqes = mmap(0, p.sq_entries * sizeof(struct io_uring_sqe), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, r.fd, IORING_OFF_SQES);
	need(sq != MAP_FAILED && cq != MAP_FAILED && r.sqes != MAP_FAILED, "mmap");
	r.sq_tail = (void *)(sq + p.sq_off.tail);
	r.sq_mask = (void *)(sq + p.sq_off.ring_mask);
	r.sq_flags = (void *)(sq + p.sq_off.flags);
	r.sq_array = (void *)(sq + p.sq_off.array);
	r.cq_head = (void *)(cq + p.cq_off.head);
	r.cq_tail = (void *)(cq + p.cq_off.tail);
	r.cq_mask = (void *)(cq + p.cq_off.ring_mask);
	r.cqes = (void *)(cq + p.cq_off.cqes);
	return r;
}

static void submit(struct ring *r, int op, int fd, const void *addr, unsigned len, uint64_t off)
{
	unsigned tail = *r->sq_tail, i = tail & *r->sq_mask;
	struct io_uring_sqe *s = &r->sqes[i];

	memset(s, 0, sizeof(*s));
	s->opcode = op;
	s->fd = fd;
	s->addr = (uintptr_t)addr;
	s->len = len;
	s->off = off;
	r->sq_array[i] = i;
	__atomic_store_n(r->sq_tail, tail + 1, __ATOMIC_RELEASE);
	if (!r->polled)
		need(syscall(SYS_io_uring_enter, r->fd, 1, 0, 0, 0, 0) == 1, "io_uring_enter");
	else if (__atomic_load_n(r->sq_flags, __ATOMIC_SEQ_CST) & IORING_SQ_NEED_WAKEUP)
		syscall(SYS_io_uring_enter, r->fd, 0, 0, IORING_ENTER_SQ_WAKEUP, 0, 0);
}

static int complete(struct ring *r)
{
	unsigned head = *r->cq_head;
	int res;

	while (__atomic_load_n(r->cq_tail, __ATOMIC_ACQUIRE) == head)
		syscall(SYS_io_uring_enter, r->fd, 0, 1, IORING_ENTER_GETEVENTS, 0, 0);
	res = r->cqes[head & *r->cq_mask].res;
	__atomic_store_n(r->cq_head, head + 1, __ATOMIC_RELEASE);
	return res;
}

/* n connections whose both ends are made by rings; 263 bytes go from one to the other. */
static void by_ring(unsigned flags, int port, int n)
{
	struct ring a = ring_new(flags), c = ring_new(flags);
	struct sockaddr_in to = at(port);
	int l = server(port, SOCK_STREAM);
	char buf[263] = {};

	for (int i = 0; i < n; i++) {
		int fd = socket(AF_INET, SOCK_STREAM, 0), peer, got;

		submit(&a, IORING_OP_ACCEPT, l, 0, 0, 0);
		submit(&c, IORING_OP_CONNECT, fd, &to, 0, sizeof(to));
		got = complete(&c);
		need(!got, "connect by ring");
		peer = complete(&a);
		need(peer >= 0, "accept by ring");
		submit(&c, IORING_OP_SEND, fd, buf, sizeof(buf), 0);
		need(complete(&c) == sizeof(buf), "send by ring");
		submit(&a, IORING_OP_RECV, peer, buf, sizeof(buf), 0);
		need(complete(&a) == sizeof(buf), "receive by ring");
		close(fd);
		close(peer);
	}
	close(l);
	close(a.fd);
	close(c.fd);
}

/* Connects by a ring that are no TCP connection in the end. */
static void others_by_ring(void)
{
	struct ring r = ring_new(0);
	int u = socket(AF_INET, SOCK_DGRAM, 0), t = socket(AF_INET, SOCK_STREAM, 0);
	struct sockaddr_in udp = at(URING_UDP), refused = at(REFUSED);

	submit(&r, IORING_OP_CONNECT, u, &udp, 0, sizeof(udp));
	need(!complete(&r), "udp connect by ring");
	submit(&r, IORING_OP_CONNECT, t, &refused, 0, sizeof(refused));
	need(complete(&r) == -ECONNREFUSED, "refused connect by ring");
	close(u);
	close(t);
	close(r.fd);
}

/* --- 32-bit system calls --- */

#ifdef __x86_64__
static int socketcall(int call, const uint32_t *args)
{
	int ret;

	asm volatile("int $0x80" : "=a"(ret) : "a"(102), "b"(call), "c"(args) : "memory", "r8", "r9", "r10", "r11");
	return ret;
}

static void by_compat(int port, int n, int direct)
{
	char *low = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	struct sockaddr_in *to = (void *)(low + 256);
	uint32_t *args = (void *)low;
	int l = server(port, SOCK_STREAM);

	need(low != MAP_FAILED, "mmap");
	*to = at(port);
	for (int i = 0; i < n + direct; i++) {
		int fd = socket(AF_INET, SOCK_STREAM, 0), peer, ret;

		if (i < n) {
			args[0] = fd, args[1] = (uintptr_t)to, args[2] = sizeof(*to);
			ret = socketcall(3, args);
			args[0] = l, args[1] = 0, args[2] = 0;
			peer = socketcall(5, args);
		} else {
			asm volatile("int $0x80" : "=a"(ret) : "a"(362), "b"(fd), "c"(to), "d"(sizeof(*to)) : "memory", "r8", "r9", "r10", "r11");
			asm volatile("int $0x80" : "=a"(peer) : "a"(364), "b"(l), "c"(0), "d"(0), "S"(0) : "memory", "r8", "r9", "r10", "r11");
		}
		errno = -ret;
		need(!ret, "32-bit connect");
		errno = -peer;
		need(peer >= 0, "32-bit accept");
		need(write(fd, "seven..", 7) == 7 && read(peer, args, 7) == 7, "exchange");
		close(fd);
		close(peer);
	}
	close(l);
}
#endif

/* --- raw IPv6 --- */

static void ping6(int n)
{
	int fd = socket(AF_INET6, SOCK_RAW, IPPROTO_ICMPV6);
	struct sockaddr_in6 to = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};

	need(fd >= 0, "raw socket");
	for (int i = 0; i < n; i++) {
		unsigned char msg[8] = {128, 0, 0, 0, 0x77, 0x78, 0, i}, buf[64];

		need(sendto(fd, msg, sizeof(msg), 0, (void *)&to, sizeof(to)) == sizeof(msg), "ping");
		do
			need(recv(fd, buf, sizeof(buf), 0) > 0, "echo");
		while (buf[0] != 129);
	}
	close(fd);
}

/* --- calls that wait when the recording begins --- */

static int listener, datagrams;

static void *accepts(void *unused)
{
	for (int i = 0; i < 3; i++)
		need(accept(listener, 0, 0) >= 0, "accept");
	return unused;
}

static void *receives(void *unused)
{
	char buf[512];
	long sum = 0;

	while (sum < 1110)
		sum += recv(datagrams, buf, sizeof(buf), 0);
	return unused;
}


int main(void)
{
	pthread_t t[2];
	char line[16], buf[100] = {};
	struct sockaddr_in to = at(WAITED), dto = at(DATAGRAM);
	int u = socket(AF_INET, SOCK_DGRAM, 0);

	listener = server(WAITED, SOCK_STREAM);
	datagrams = server(DATAGRAM, SOCK_DGRAM);
	pthread_create(&t[0], 0, accepts, 0);
	pthread_create(&t[1], 0, receives, 0);
	usleep(200 * 1000);
	puts("ready");
	fflush(stdout);
	need(fgets(line, sizeof(line), stdin) != 0, "go on");
	for (int i = 0; i < 3; i++) {
		int fd = socket(AF_INET, SOCK_STREAM, 0);

		need(!connect(fd, (void *)&to, sizeof(to)), "connect");
		usleep(20 * 1000);
	}
	need(sendto(u, buf, 10, 0, (void *)&dto, sizeof(dto)) == 10, "send");
	for (int i = 0; i < 11; i++)
		need(sendto(u, buf, 100, 0, (void *)&dto, sizeof(dto)) == 100, "send");
	pthread_join(t[0], 0);
	pthread_join(t[1], 0);
	by_ring(0, URING, 5);
	by_ring(IORING_SETUP_SQPOLL, SQPOLL, 4);
	others_by_ring();
#ifdef __x86_64__
	by_compat(COMPAT, 3, 4);
#endif
	ping6(3);
	puts("done");
	return 0;
}
