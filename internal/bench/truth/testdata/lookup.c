/* lookup FUNCTION NAME … looks names up with functions of the C library and prints for
 * each call: function, family asked for, returned value, whether there was a result,
 * h_errno, and the time before and after, CLOCK_MONOTONIC in ns.
 *
 * It first waits until every function has a probe: a breakpoint as first byte. So calls
 * are not made before the recorder can see them, without guessing how long that takes;
 * the time it took is the first line. Of two probes at a place that shows the first, so
 * it waits a while longer; and until its input ends, for who starts it before the recorder,
 * whose probes all begin at one moment after the last of them is there.
 *
 * Without a start of its own (-DBARE) it links with any C library.
 */
#define _GNU_SOURCE
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#ifdef BARE
__asm__(".globl _start\n"
	"_start: xor %ebp, %ebp\n"
	"mov (%rsp), %rsi\n"
	"lea 8(%rsp), %rdx\n"
	"mov main@GOTPCREL(%rip), %rdi\n"
	"xor %ecx, %ecx\n"
	"xor %r8d, %r8d\n"
	"xor %r9d, %r9d\n"
	"and $-16, %rsp\n"
	"call __libc_start_main@PLT\n"
	"hlt\n");
#endif

#define BREAKPOINT 0xcc
#define PATIENCE_NS (600ll * 1000 * 1000 * 1000)

static long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

static int wait_for_probes(void)
{
	const void *functions[] = {getaddrinfo, gethostbyname, gethostbyname2, gethostbyname_r, gethostbyname2_r};
	const struct timespec moment = {0, 1000000}, second_probe = {2, 0};
	long long begun = now();
	char c;

	for (int i = 0; i < 5; i++)
		while (*(volatile const unsigned char *)functions[i] != BREAKPOINT) {
			if (now() - begun > PATIENCE_NS) {
				dprintf(2, "function %d has no probe\n", i);
				return 1;
			}
			nanosleep(&moment, 0);
		}
	dprintf(1, "probes %lld\n", now() - begun);
	nanosleep(&second_probe, 0);
	while (read(0, &c, 1) > 0)
		;
	return 0;
}

static void look_up(const char *function, const char *name, int turn)
{
	static char buf[65536];
	struct hostent ent, *result = 0;
	const int families[] = {AF_UNSPEC, AF_INET, AF_INET6};
	struct addrinfo *ai = 0, hints = {.ai_family = families[turn % 3]};
	int herr = -9, ret = 0, found, family = AF_INET;
	long long before = now();

	if (!strcmp(function, "getaddrinfo")) {
		family = hints.ai_family;
		ret = getaddrinfo(name, 0, family ? &hints : 0, &ai);
	} else if (!strcmp(function, "gethostbyname_r")) {
		ret = gethostbyname_r(name, &ent, buf, sizeof(buf), &result, &herr);
	} else if (!strcmp(function, "gethostbyname2_r")) {
		ret = gethostbyname2_r(name, family, &ent, buf, sizeof(buf), &result, &herr);
	} else {
		h_errno = 0;
		if (!strcmp(function, "gethostbyname2"))
			family = AF_INET6;
		result = family == AF_INET ? gethostbyname(name) : gethostbyname2(name, family);
		ret = result ? 0 : -1;
		herr = h_errno;
	}
	found = ai || result;
	dprintf(1, "%s %d %d %d %d %lld %lld\n", function, family, ret, found, herr, before, now());
}

int main(int argc, char **argv)
{
	if (wait_for_probes())
		return 1;
	for (int i = 1; i + 1 < argc; i += 2)
		look_up(argv[i], argv[i + 1], i / 2);
	return 0;
}
