package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"netrec/analyze"
	"netrec/analyze/engine"
	"netrec/internal/bench/synth"
)

// The test binary is netrec where it is called so.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "netrec" {
		if os.Getenv(peakFile) != "" {
			os.Exit(tellPeak())
		}
		main()
	}
	os.Exit(m.Run())
}

// asNetrec gives a folder in which the program is.
func asNetrec(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Symlink(self, filepath.Join(dir, "netrec")); err != nil {
		t.Fatal(err)
	}
	return dir
}

const bashCompletion = "/usr/share/bash-completion/bash_completion"

// pressTab asks a real bash what it would offer at the end of a command line.
func pressTab(t *testing.T, words ...string) string {
	t.Helper()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("left out: no bash")
	}
	if _, err := os.Stat(bashCompletion); err != nil {
		t.Skip("left out: no bash-completion")
	}
	var quoted []string
	for _, w := range append([]string{"netrec"}, words...) {
		quoted = append(quoted, "'"+w+"'")
	}
	line := strings.Join(append([]string{"netrec"}, words...), " ")
	script := fmt.Sprintf(`. %s && . <(netrec completion bash) && f=$(complete -p netrec | sed 's/.*-F \([^ ]*\).*/\1/') || exit 1
COMP_WORDS=(%s) COMP_CWORD=%d COMP_LINE=%q COMP_POINT=%d COMP_TYPE=63 COMP_KEY=9
$f netrec '%s' '%s' 2>/dev/null; printf '%%s\n' "${COMPREPLY[@]}"`,
		bashCompletion, strings.Join(quoted, " "), len(words), line, len(line), words[len(words)-1], append([]string{"netrec"}, words...)[len(words)-1])
	cmd := exec.Command(bash, "--norc", "-c", script)
	cmd.Env = append(os.Environ(), "PATH="+asNetrec(t)+":"+os.Getenv("PATH"), "COLUMNS=200")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("bash: %v\n%s", err, out)
	}
	return string(out)
}

func TestBashCompletes(t *testing.T) {
	sample, err := filepath.Abs("sample.parquet")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		words []string
		want  []string
		not   string
	}{
		{[]string{"re"}, []string{"record"}, "analyze"},
		{[]string{""}, []string{"record", "analyze", "version"}, "\nman"},
		{[]string{"analyze", sample, "tcpl"}, []string{"tcplife"}, "tcptop"},
		{[]string{"analyze", sample, "tcplife", "--wi"}, []string{"--wide"}, "--port"},
		{[]string{"analyze", sample, "tcplife", "-f", ""}, []string{"text", "json", "arrow"}, "tcplife"},
		{[]string{"analyze", sample, "sock", "0xffff8"}, []string{"0xffff8", "(tcp 127.0.0.1:", " > 127.0.0.1:", ", netrec (pid "}, "tcplife"},
		{[]string{"analyze", sample, "skb", ""}, []string{"0xffff8"}, "tcplife"},
		{[]string{"analyze", sample, "tcpwin", "--sock", ""}, []string{"0xffff8", "(tcp 127.0.0.1:"}, "tcplife"},
		{[]string{"analyze", sample, "--threshold", "slow"}, []string{"slow-dns=100ms"}, "drops"},
		{[]string{"report", sample, "--sock", "0xffff8"}, []string{"0xffff8", "(tcp 127.0.0.1:"}, "drops"},
		{[]string{"report", sample, "--threshold", ""}, []string{"slow-dns=100ms", "drops=5"}, "tcplife"},
		{[]string{"export", sample, "--to", ""}, []string{"arrow", "perfetto", "folded"}, "parquet"},
		{[]string{"record", "-e", "dn"}, []string{"dns_call", "a name lookup in the C library returned"}, "sys_connect"},
		{[]string{"record", "--profile", ""}, []string{"light", "default", "full"}, "tcp_state"},
		{[]string{"record", "--tcp-state", "EST"}, []string{"ESTABLISHED"}, "LISTEN"},
		{[]string{"version", "-f", ""}, []string{"text", "json"}, "arrow"},
	} {
		got := pressTab(t, c.words...)
		for _, w := range c.want {
			if !strings.Contains(got, w) {
				t.Errorf("%q: bash offers %q, want %s among it", c.words, got, w)
			}
		}
		if strings.Contains(got, c.not) {
			t.Errorf("%q: bash offers %s too: %q", c.words, c.not, got)
		}
	}
}

// Bash compares lists with commas in a quoted form and offers none; other shells ask for them.
func TestListsComplete(t *testing.T) {
	for typed, want := range map[string]string{"tcp,dn": "tcp,dns_call", "tcp,-tcp_st": "tcp,-tcp_state", "": "sock_io"} {
		words := fitting(completeEvents(typed), typed)
		if !strings.Contains("\n"+strings.Join(words, "\n"), "\n"+want+"\t") {
			t.Errorf("after %q: %q, want %s", typed, words, want)
		}
	}
}

// Whoever pressed a key must not wait for the whole file; what was read by then is offered.
func TestAddressesInTime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "large.parquet")
	if _, err := synth.Write(path, synth.Options{Rows: 400_000, Seed: 3}); err != nil {
		t.Fatal(err)
	}
	req, sock := engine.Request{Files: []string{path}}, analyze.Find("sock")
	all := listed(req, sock, time.Now().Add(time.Hour))
	none := listed(req, sock, time.Now())
	if len(all) == 0 || len(all) > 50 {
		t.Errorf("%d addresses offered, want the 50 busiest at most", len(all))
	}
	// The time is looked at once in a thousand rows.
	if len(none) >= 50 && strings.Join(none, "\n") == strings.Join(all, "\n") {
		t.Error("the whole file was read though there was no time")
	}
	for _, w := range all {
		if !strings.HasPrefix(w, "0x") || !strings.Contains(w, "\t") {
			t.Errorf("offered: %q, want an address and a description", w)
		}
	}
	if got := listed(engine.Request{Files: []string{filepath.Join(t.TempDir(), "none")}}, sock, time.Now()); got != nil {
		t.Errorf("addresses of a file that is not there: %q", got)
	}
}
