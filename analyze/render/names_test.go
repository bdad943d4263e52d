package render

import (
	"os/exec"
	"testing"
)

// What a shell makes of a word is the string again, whatever is in it.
func TestShellWord(t *testing.T) {
	if got := ShellWord("eth0.5"); got != "eth0.5" {
		t.Errorf("a plain word became %s", got)
	}
	for _, s := range []string{"", "a b", "$(touch /tmp/x)", "it's", "-n", "`id`", "a\\b", "a;b", "\n", "é"} {
		out, err := exec.Command("sh", "-c", "printf %s "+ShellWord(s)).Output()
		if err != nil || string(out) != s {
			t.Errorf("%q as %s: the shell made %q of it, %v", s, ShellWord(s), out, err)
		}
	}
}
