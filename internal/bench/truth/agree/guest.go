package agree

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// CountFuncs is the pattern of functions that the recorder counts for funccount.
const CountFuncs = "tcp_v4_*"

// CountTracepoints are the tracepoints that it counts for tpcount.
var CountTracepoints = []string{"tcp:tcp_destroy_sock", "tcp:tcp_probe", "tcp:tcp_rcv_space_adjust", "tcp:tcp_receive_reset", "tcp:tcp_retransmit_skb", "tcp:tcp_send_reset"}

// canary is the host whose address the guest looks up until all tools have attached: no
// packet leaves for it. A tool that prints its heading too early is known to work by this.
const canary = "192.0.2.77"

// perScript is how many one-liners share a bpftrace: one that does not compile takes only
// its group along, and a process for each would not fit into the guest.
const perScript = 16

// Runs reports whether a comparison is made on a kernel.
func (c Comparison) Runs(kernel string) bool {
	return (c.Since == "" || !before(kernel, c.Since)) && (c.Until == "" || !before(c.Until, kernel))
}

// before orders kernels by series; a name without numbers is newer than all.
func before(a, b string) bool {
	var n [2][2]int
	for i, s := range []string{a, b} {
		major, minor, _ := strings.Cut(s, ".")
		var err error
		if n[i][0], err = strconv.Atoi(major); err != nil {
			n[i][0] = 1 << 20
		}
		n[i][1], _ = strconv.Atoi(minor)
	}
	return n[0][0] < n[1][0] || n[0][0] == n[1][0] && n[0][1] < n[1][1]
}

// watcher is a tool in the guest's plan.
type watcher struct {
	Name    string   `json:"name"`
	Command []string `json:"command"`
	Heading string   `json:"heading"`
}

// Name is under which the tool's output is kept.
func (c Comparison) Name() string {
	return filepath.Base(c.Command[0])
}

// bpftrace is the command that runs a script until the traffic is over, and says when it
// has attached. Probes in libraries would see only the command after -c: such a
// script has a heading instead.
func bpftrace(name, script, heading string) watcher {
	w := watcher{Name: name, Heading: heading, Command: []string{"bpftrace", "-f", "json", "-I", "/host/include"}}
	if heading == "" {
		w.Command = append(w.Command, "-c", "/bin/sh /host/hold.sh "+name)
	}
	w.Command = append(w.Command, script)
	return w
}

// scripts are the one-liners of comparisons, in groups. One without a script of its own
// reads a map that another one's fills: then all run.
func scripts(kernel string, chosen []Comparison) (texts []string) {
	fills := func(c Comparison) bool {
		return c.Runs(kernel) && c.Script != "" && slices.ContainsFunc(chosen, func(x Comparison) bool {
			return x.id() == c.id() || x.Command == nil && x.Script == ""
		})
	}
	n := 0
	for _, c := range OneLiners {
		if !fills(c) {
			continue
		}
		if n%perScript == 0 {
			texts = append(texts, "")
		}
		texts[len(texts)-1] += c.Script + "\n"
		n++
	}
	return texts
}

// Plan writes what the guest is to run on a kernel for some comparisons into its folder.
func Plan(dir, kernel string, chosen []Comparison) error {
	var ws []watcher
	for _, c := range chosen {
		switch {
		case c.Command == nil || slices.ContainsFunc(ws, func(w watcher) bool { return w.Name == c.Name() }):
		case strings.HasSuffix(c.Command[0], ".bt"):
			ws = append(ws, bpftrace(c.Name(), "/usr/sbin/"+c.Command[0], c.Heading))
		default:
			ws = append(ws, watcher{c.Name(), c.Command, c.Heading})
		}
	}
	for i, text := range scripts(kernel, chosen) {
		name := fmt.Sprintf("one-liners-%d", i)
		if err := os.WriteFile(filepath.Join(dir, name+".bt"), []byte(text), 0o644); err != nil {
			return err
		}
		ws = append(ws, bpftrace(name, "/host/"+name+".bt", ""))
	}
	compile := slices.ContainsFunc(chosen, Comparison.bcc)
	plan, err := json.Marshal(map[string]any{"tools": ws, "compile": compile, "record": []string{"--count-func", CountFuncs, "--count-tp", strings.Join(CountTracepoints, ",")}})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "watch.json"), plan, 0o644)
}
