package fence

import "golang.org/x/sys/unix"

// denied are the calls that Deny takes away.
var denied = []uintptr{
	unix.SYS_EXECVE, unix.SYS_EXECVEAT,
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PROCESS_MADVISE, unix.SYS_PIDFD_GETFD, unix.SYS_KCMP,
	unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_CHROOT, unix.SYS_PIVOT_ROOT, unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_FSOPEN, unix.SYS_FSMOUNT,
	unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE, unix.SYS_MOUNT_SETATTR, unix.SYS_NAME_TO_HANDLE_AT, unix.SYS_OPEN_BY_HANDLE_AT,
	unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE, unix.SYS_KEXEC_LOAD, unix.SYS_REBOOT,
	unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_ACCT, unix.SYS_QUOTACTL, unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_ADJTIMEX,
	unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_USERFAULTFD, unix.SYS_IO_URING_SETUP, unix.SYS_MEMFD_CREATE,
	unix.SYS_PERSONALITY, unix.SYS_SYSLOG, unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME,
	unix.SYS_LISTEN, unix.SYS_ACCEPT, unix.SYS_ACCEPT4,
}

// writing are the flags that a file opened for reading has none of.
const writing = unix.O_WRONLY | unix.O_RDWR | unix.O_CREAT | unix.O_TRUNC

// Reading is what a process needs that only opens files, reads them and answers on a socket
// that it was born with: the calls of Go's runtime, and of files that are not written.
//
// The flags of openat2 are out of a filter's sight. What it opens for writing cannot be
// written all the same: write is for the runtime's own eventfd, whose words have eight
// bytes, and for standard error.
var Reading = []Rule{
	{Call: unix.SYS_READ}, {Call: unix.SYS_PREAD64}, {Call: unix.SYS_CLOSE}, {Call: unix.SYS_LSEEK}, {Call: unix.SYS_FCNTL},
	{Call: unix.SYS_OPENAT, Arg: 2, None: writing}, {Call: unix.SYS_OPENAT2}, {Call: unix.SYS_FSTAT}, {Call: unix.SYS_NEWFSTATAT}, {Call: unix.SYS_STATX},
	{Call: unix.SYS_FSTATFS}, {Call: unix.SYS_READLINKAT}, {Call: unix.SYS_GETDENTS64},
	{Call: unix.SYS_SENDMSG}, {Call: unix.SYS_RECVMSG}, {Call: unix.SYS_WRITE, Arg: 2, Only: 8}, {Call: unix.SYS_WRITE, Arg: 0, Only: 2},
	{Call: unix.SYS_MMAP, Arg: 3, None: unix.MAP_SHARED}, {Call: unix.SYS_MUNMAP}, {Call: unix.SYS_MADVISE}, {Call: unix.SYS_MINCORE},
	{Call: unix.SYS_MPROTECT, Arg: 2, None: unix.PROT_EXEC}, {Call: unix.SYS_BRK}, {Call: unix.SYS_PRCTL, Arg: 0, Only: unix.PR_SET_VMA},
	{Call: unix.SYS_FUTEX}, {Call: unix.SYS_CLONE, Arg: 0, Some: unix.CLONE_THREAD}, {Call: unix.SYS_SCHED_YIELD}, {Call: unix.SYS_SCHED_GETAFFINITY},
	{Call: unix.SYS_NANOSLEEP}, {Call: unix.SYS_CLOCK_NANOSLEEP}, {Call: unix.SYS_CLOCK_GETTIME}, {Call: unix.SYS_RESTART_SYSCALL},
	{Call: unix.SYS_EPOLL_CREATE1}, {Call: unix.SYS_EPOLL_CTL}, {Call: unix.SYS_EPOLL_PWAIT}, {Call: unix.SYS_EVENTFD2}, {Call: unix.SYS_PPOLL},
	{Call: unix.SYS_RT_SIGACTION}, {Call: unix.SYS_RT_SIGPROCMASK}, {Call: unix.SYS_RT_SIGRETURN}, {Call: unix.SYS_SIGALTSTACK},
	{Call: unix.SYS_TGKILL}, {Call: unix.SYS_GETPID}, {Call: unix.SYS_GETTID}, {Call: unix.SYS_GETRANDOM}, {Call: unix.SYS_SHUTDOWN},
	{Call: unix.SYS_SET_ROBUST_LIST}, {Call: unix.SYS_RSEQ},
	{Call: unix.SYS_EXIT}, {Call: unix.SYS_EXIT_GROUP},
}
