/* The names that lookup.c uses, to link it without the C library that it will run with. */
#define STUB(name) void name(void) {}
STUB(getaddrinfo)
STUB(gethostbyname)
STUB(gethostbyname2)
STUB(gethostbyname_r)
STUB(gethostbyname2_r)
STUB(__h_errno_location)
STUB(__libc_start_main)
STUB(clock_gettime)
STUB(nanosleep)
STUB(dprintf)
STUB(read)
STUB(strcmp)
