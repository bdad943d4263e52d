package analyze

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"

	"netrec/analyze/engine/eventtext"
)

// TestGraphIsDOT lets GraphViz read a graph with names that try to break out of it.
func TestGraphIsDOT(t *testing.T) {
	dot, err := exec.LookPath("dot")
	if err != nil {
		t.Skip("graphs are not read by GraphViz: apt-get install graphviz")
	}
	src, err := eventtext.Parse("", `
+10ms tcp_state sock=0xffff888000003000 pid=8 comm="a\"; b\\\"]\n}" old_state=CLOSE new_state=SYN_SENT conn=10.0.0.1:40001>10.0.0.2:443 protocol=tcp
+31ms tcp_state sock=0xffff888000003000 pid=8 comm=x ctx=softirq old_state=SYN_SENT new_state=CLOSE conn=10.0.0.1:40001>10.0.0.2:443 protocol=tcp bytes_acked=0 bytes_received=0
+40ms tcp_state sock=0xffff888000004000 pid=9 comm=y old_state=CLOSE new_state=SYN_SENT conn=[2001:db8::1]:40001>[2001:db8::2]:443 protocol=tcp`)
	if err != nil {
		t.Fatal(err)
	}
	for _, nodes := range []string{"host", "port", "process"} {
		graph := answer(t, src, "tcplife --dot="+nodes, "text")
		cmd := exec.Command(dot, "-Tplain")
		cmd.Stdin = bytes.NewReader(graph)
		out, err := cmd.CombinedOutput()
		if err != nil || strings.Count(string(out), "\nedge ") != 2 || strings.Count(string(out), "\nnode ") != 4 {
			t.Errorf("nodes %s: %v\n%s\nfrom\n%s", nodes, err, out, graph)
		}
	}
}
