// Package filter turns the words of a user into what the probes compare.
//
// It owns which filters there are (Kinds), what their values look like and what they
// are resolved to: a name to a number, a container to its cgroup, a CIDR to bits. The
// other half is bpf/filter.h, which has the constants and says what a row is judged by;
// docs/filters.md has both in words. A filter more is an entry here and one there.
//
// It does not record: package record hands the constants on to the probes and the text
// to the file. Start with Kinds and Resolve.
package filter
