package main

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"strings"

	"netrec/schema"
)

const filtersDoc = "../docs/filters.md"

// judges are the functions by which probes judge their rows, see want.h and packet.h, and
// what they judge by. The first one that a probe calls is the one that counts.
var judges = []struct {
	calls *regexp.Regexp
	as    string
	by    string
}{
	{regexp.MustCompile(`want_packet\(|want_packet_but\(`), "packet", "its headers, its device, and the owner and state of its socket if it has one"},
	{regexp.MustCompile(`want_skb\(|want_skb_but\(`), "sk_buff", "its socket's ends, else its headers; its device where that can be told"},
	{regexp.MustCompile(`want_tcp\(`), "TCP", "ends of the packet or request, the rest of its listener or socket"},
	{regexp.MustCompile(`want_fd\(`), "call", "the socket of the descriptor; without one as a task"},
	{regexp.MustCompile(`want_sock\(|want_change\(|want_peer\(|want_name\(|IO_CALL\(`), "socket",
		"the socket's namespace, ends, protocol, state, bound device and owner"},
	{regexp.MustCompile(`want_who\(0\)`), "bare sk_buff", "namespace, device and task; left out with a port, address, protocol or state"},
	{regexp.MustCompile(`want_call\(|want_task\(`), "task", "the task; left out with a port, address, protocol or state"},
	{regexp.MustCompile(``), "machine", "nothing: it is about the whole machine, whatever the filters"},
}

// judged writes into the documentation by what each event is judged.
func judged() error {
	events := make([][]string, len(judges))
	for i := range schema.Events {
		e := &schema.Events[i]
		if e.Own() {
			continue
		}
		src, err := os.ReadFile(e.Name + ".bpf.c")
		if err != nil {
			return err
		}
		for j := range judges {
			if judges[j].calls.Match(src) {
				events[j] = append(events[j], "`"+e.Name+"`")
				break
			}
		}
	}
	var table strings.Builder
	table.WriteString("| judged as | by | events |\n|---|---|---|\n")
	for j := range judges {
		if len(events[j]) > 0 {
			fmt.Fprintf(&table, "| %s | %s | %s |\n", judges[j].as, judges[j].by, strings.Join(events[j], " "))
		}
	}
	return replaceBetween(filtersDoc, "<!-- written by bpf/gen -->\n", "<!-- end -->\n", table.String())
}

// replaceBetween puts text between two marks of a file.
func replaceBetween(path, begin, end, text string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	head, rest, ok := bytes.Cut(b, []byte(begin))
	_, tail, ok2 := bytes.Cut(rest, []byte(end))
	if !ok || !ok2 {
		return fmt.Errorf("%s: no marks %q and %q", path, begin, end)
	}
	return os.WriteFile(path, bytes.Join([][]byte{head, []byte(begin), []byte(text), []byte(end), tail}, nil), 0o644)
}
