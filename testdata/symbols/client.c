/*
 * A program whose connect(2) is made by inlined functions, three deep, for tests of names
 * from debug files. The system call is made here: the C library has no frame pointers.
 *
 *   client TIMES PORT
 *
 * It ends when its input does: stacks are named while their process is there.
 */
#include <arpa/inet.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define INLINE static inline __attribute__((always_inline))

INLINE long enter(long nr, long a, long b, long c)
{
#if defined(__x86_64__)
	__asm__ volatile("syscall" : "+a"(nr) : "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
	return nr;
#elif defined(__aarch64__)
	register long x8 __asm__("x8") = nr, x0 __asm__("x0") = a, x1 __asm__("x1") = b, x2 __asm__("x2") = c;

	__asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
	return x0;
#else
	return syscall(nr, a, b, c);
#endif
}

INLINE long dial(int fd, int port)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port)};

	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return enter(SYS_connect, fd, (long)&to, sizeof to);
}

INLINE long open_and_dial(int port)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	return dial(fd, port) + close(fd);
}

__attribute__((noinline)) static long attempt(int port)
{
	return open_and_dial(port) + 1;
}

__attribute__((noinline)) long repeat(int times, int port)
{
	long sum = 0;

	while (times-- > 0)
		sum += attempt(port);
	return sum;
}

int main(int argc, char **argv)
{
	char c;

	return argc != 3 || repeat(atoi(argv[1]), atoi(argv[2])) == 1 || read(0, &c, 1) < 0;
}
