package render

import (
	"net"
	"strconv"
	"strings"
)

// Safe is a string with untrusted bytes as AppendSafe writes them.
func Safe(s string) string { return string(AppendSafe(nil, s)) }

// ShellWord is a string as one word of a shell: commands that people copy may have names
// from a file in them. It has no backslash that was not in the string, so that AppendSafe
// may follow.
func ShellWord(s string) string {
	plain := func(c rune) bool {
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("_./:@%+=,-", c)
	}
	if s != "" && s[0] != '-' && strings.IndexFunc(s, func(c rune) bool { return !plain(c) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'"'"'`) + "'"
}

// Endpoint is an address and a port as one word, ? if the address is not known.
func Endpoint(addr string, port int64) string {
	if addr == "" {
		return "?"
	}
	return net.JoinHostPort(addr, strconv.FormatInt(port, 10))
}

// Errno is a return value, with the name of the error if it is one.
func Errno(ret int64) string {
	if name := ErrnoName(-ret); name != "" {
		return name
	}
	return strconv.FormatInt(ret, 10)
}

// ErrnoName is the name of an error number, "" if it has none here.
func ErrnoName(n int64) string { return errnos[n] }

// errnos are the errors that socket calls return, as Linux numbers them.
var errnos = map[int64]string{1: "EPERM", 2: "ENOENT", 4: "EINTR", 5: "EIO", 9: "EBADF", 11: "EAGAIN", 12: "ENOMEM", 13: "EACCES", 14: "EFAULT",
	17: "EEXIST", 22: "EINVAL", 23: "ENFILE", 24: "EMFILE", 28: "ENOSPC", 32: "EPIPE", 71: "EPROTO", 88: "ENOTSOCK", 89: "EDESTADDRREQ", 90: "EMSGSIZE",
	91: "EPROTOTYPE", 92: "ENOPROTOOPT", 93: "EPROTONOSUPPORT", 95: "EOPNOTSUPP", 97: "EAFNOSUPPORT", 98: "EADDRINUSE", 99: "EADDRNOTAVAIL", 100: "ENETDOWN",
	101: "ENETUNREACH", 102: "ENETRESET", 103: "ECONNABORTED", 104: "ECONNRESET", 105: "ENOBUFS", 106: "EISCONN", 107: "ENOTCONN", 110: "ETIMEDOUT",
	111: "ECONNREFUSED", 112: "EHOSTDOWN", 113: "EHOSTUNREACH", 114: "EALREADY", 115: "EINPROGRESS", 512: "ERESTARTSYS"}
