package analyze

import "netrec/schema"

// connectLabels are the results of connect(2) as soconnect names them, by errno.
var connectLabels = map[int64]string{0: "Success", 1: "Permission denied", 4: "Interrupted", 9: "Invalid sockfd", 11: "Routing cache insuff.",
	13: "Perm. denied (EACCES)", 14: "Sock struct addr invalid", 88: "FD not a socket", 91: "Socket protocol error", 97: "Address family invalid",
	98: "Local addr in use", 99: "No port available", 101: "Network unreachable", 106: "Already connected", 110: "Timeout", 111: "Connect refused",
	114: "Not yet completed", 115: "In progress"}

// acceptLabels are the results of accept(2) as soaccept names them.
var acceptLabels = map[int64]string{0: "Success", 1: "Permission denied", 4: "Interrupted", 9: "Invalid sockfd", 11: "None to accept", 12: "Out of memory",
	14: "Sock struct addr invalid", 22: "Args invalid", 23: "System FD limit", 24: "Process FD limit", 71: "Protocol error", 88: "FD not a socket",
	95: "Not SOCK_STREAM", 103: "Aborted", 105: "Memory (ENOBUFS)"}

// familyNumber is the number of an address family, as the originals print it.
func familyNumber(name string) int64 { return enumNumber("family", name) }

// enumNumber is the number of a name in an enum of the schema; names that are numbers
// themselves stand for those.
func enumNumber(enum, name string) int64 {
	for _, v := range schema.Enums[enum].Values {
		if v.Name == name {
			return v.Value
		}
	}
	n := int64(0)
	for _, c := range []byte(name) {
		if c < '0' || c > '9' {
			return -1
		}
		n = n*10 + int64(c-'0')
	}
	return n
}
