/* The two names that bpftrace's scripts want from the C library's headers, which the guest has not. */
#define AF_INET 2
#define AF_INET6 10
