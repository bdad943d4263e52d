package incidents

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"netrec/internal/bench/rig"
)

var documented = flag.Bool("documented", false, "in a guest: record it whole, with the command that the documentation gives, for as long as that says")

// begun is what the command says once it records.
const begun = "netrec: recording to "

// recordAsDocumented runs an incident while the documented command records the whole guest, the peer's end included. An emulated
// machine takes longer than a minute to attach hooks, which is all that the command is told besides.
func recordAsDocumented(t *testing.T, bin, file string, run func() error) error {
	if os.Getenv(rig.GuestEnv) == "" {
		t.Skip("left out: recording a whole machine, which only a guest is for")
	}
	cmd := exec.Command(bin, "record", "-t", "15s", "-o", file, "--start-within", "20m")
	said, err := cmd.StderrPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	lines, all := bufio.NewScanner(said), ""
	for lines.Scan() && !strings.HasPrefix(lines.Text(), begun) {
		all += lines.Text() + "\n"
	}
	if !strings.HasPrefix(lines.Text(), begun) {
		return fmt.Errorf("the recorder did not begin: %v\n%s", cmd.Wait(), all)
	}
	ran := run()
	for lines.Scan() {
		all += lines.Text() + "\n"
	}
	if err := cmd.Wait(); err != nil && cmd.ProcessState.ExitCode() != 4 {
		return fmt.Errorf("record: %w\n%s", err, all)
	}
	return ran
}
