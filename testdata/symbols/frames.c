/* Connects three times, with frame pointers that are none: a number, and the address of something that looks like a
 * frame but lies on no stack; and with one that is. The argument is a port of 127.0.0.1. It ends with its input. */
#include <arpa/inet.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct sockaddr_in peer;

/* The call is made in the function that its name is of. */
#define CONNECT(fp)                                                                       \
	do {                                                                              \
		long nr = SYS_connect, fd = socket(AF_INET, SOCK_STREAM, 0);              \
		register long pointer asm("r10") = (long)(fp);                            \
		asm volatile("push %%rbp\n\tmov %%r10, %%rbp\n\tsyscall\n\tpop %%rbp"     \
			     : "+a"(nr)                                                   \
			     : "D"(fd), "S"(&peer), "d"(sizeof(peer)), "r"(pointer)       \
			     : "rcx", "r11", "memory");                                   \
	} while (0)

__attribute__((noinline)) void nowhere(void) { CONNECT(1); }

__attribute__((noinline)) void elsewhere(void)
{
	unsigned long *frame = calloc(2, sizeof(*frame));

	frame[1] = 0x9100000000000000;
	CONNECT(frame);
}

__attribute__((noinline)) void framed(void) { CONNECT(__builtin_frame_address(0)); }

int main(int argc, char **argv)
{
	char c;

	peer.sin_family = AF_INET;
	peer.sin_port = htons(atoi(argv[1]));
	peer.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	nowhere();
	elsewhere();
	framed();
	return read(0, &c, 1);
}
