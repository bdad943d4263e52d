package main

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"netrec/analyze/scan"
	"netrec/schema"
)

// TestDump: every row of a recording is one line, with each column that is set.
func TestDump(t *testing.T) {
	file := filepathOfSample(t)
	src, err := scan.Open(file, scan.Options{})
	must(t, err)
	defer src.Close()
	rows := map[string]int{}
	out, errs, code := said("dump", file)
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	for _, l := range dumped(out) {
		rows[strings.Fields(l)[1]]++
	}
	for i := range schema.Events {
		e := &schema.Events[i]
		if want := src.Meta().Rows[e.Name]; !e.Own() && int64(rows[e.Name]) != want {
			t.Errorf("%d lines of %s, the file has %d rows", rows[e.Name], e.Name, want)
		}
	}
	first := func(event, value string) string { // of the first row of an event
		all, _, _ := said("dump", file, "--event", event)
		m := regexp.MustCompile(` ` + value + `=(\S+)`).FindStringSubmatch(all)
		if m == nil {
			t.Fatalf("no row of %s has %s", event, value)
		}
		return m[1]
	}
	sock, pid := first("tcp_retrans", "sock"), first("sys_socket", "pid")
	for args, want := range map[string]string{
		"--event tcp_reset":                  `tcp_reset +cpu=\d+ .*\b(skb|sock)=0x[0-9a-f]{16}\b.*\brport=\d+`,
		"--event dns_call --comm getent":     `dns_call +.* comm=getent .*\bhost=\S+`,
		"--sock " + sock + " -e tcp_retrans": ` sock=` + sock + ` `,
		"--port 9 --event sys_connect":       ` dest_port=9\b`,
		"--pid " + pid + " -e sys_socket":    ` pid=` + pid + ` `,
		"-e tcp_reset --column dir,rport":    `tcp_reset +rport=\d+ dir=(send|recv)$`,
		"--event cost":                       ` cost +`,
	} {
		out, errs, code := said(append([]string{"dump", file}, strings.Fields(args)...)...)
		lines := dumped(out)
		if code != 0 || len(lines) == 0 {
			t.Errorf("%s: exit code %d, %d lines, %s", args, code, len(lines), errs)
		}
		for _, l := range lines {
			if !regexp.MustCompile(want).MatchString(l) {
				t.Errorf("%s: %q does not match %s", args, l, want)
			}
		}
	}
	if _, errs, code := said("dump", file, "--event", "tcp_stat"); code != 1 || !strings.Contains(errs, "did you mean tcp_state?") {
		t.Errorf("exit code %d: %s", code, errs)
	}
}

// dumped are the lines that are rows.
func dumped(out string) (lines []string) {
	for _, l := range strings.Split(out, "\n") {
		if l != "" && !strings.HasPrefix(l, "#") && !strings.HasSuffix(l, " COLUMNS") {
			lines = append(lines, l)
		}
	}
	return lines
}

// TestDumpStops: a reader that has enough ends it, without a word.
func TestDumpStops(t *testing.T) {
	file := filepathOfSample(t)
	bin := asNetrec(t)
	out, err := exec.Command("sh", "-c", bin+"/netrec dump "+file+" | head -n 3").CombinedOutput()
	if err != nil || strings.Count(string(out), "\n") != 3 {
		t.Errorf("%v:\n%s", err, out)
	}
}

// TestTimesCanBePasted: --from takes a time as any table prints it, and the row is still there.
func TestTimesCanBePasted(t *testing.T) {
	file := filepathOfSample(t)
	column := regexp.MustCompile(`(?m)^ *(TIME\(s\)|TIME|GEN +TIME\(s\)|SECOND)\b.*\n(?: *#.*\n)*(.*)$`)
	value := regexp.MustCompile(`^ *(\d\d:\d\d:\d\d|[0-9.]+)`)
	tried := 0
	for _, args := range []string{"tcpconnect --timestamp", "tcpaccept --timestamp", "tcpaccept --time", "tcplife --timestamp", "tcpstates --timestamp", "tcpstates --time", "tcpbind",
		"tcpretrans", "tcpdrop", "gethostlatency", "udpconnect", "eventrates"} {
		out, errs, code := said(append([]string{"analyze", file}, strings.Fields(args)...)...)
		m := column.FindStringSubmatch(out)
		if code != 0 || m == nil || value.FindString(m[2]) == "" {
			t.Errorf("%s: exit code %d, no time: %s\n%.300s", args, code, errs, out)
			continue
		}
		at, row := strings.TrimSpace(value.FindString(m[2])), strings.TrimSpace(m[2][len(value.FindString(m[2])):])
		tried++
		out, errs, code = said(append([]string{"analyze", file, "--from", at}, strings.Fields(args)...)...)
		row = row[:min(len(row), 50)] // what it took or waited may have begun before
		if code != 0 || !strings.Contains(out, row) {
			t.Errorf("%s --from %s: exit code %d, the row %q is gone: %s", args, at, code, row, errs)
		}
	}
	if tried < 10 {
		t.Errorf("%d times tried", tried)
	}
}
