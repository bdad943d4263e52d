package symbol_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"netrec/record/priv"
	"netrec/record/symbol"
)

// childEnv makes the test binary drop its privileges and name one address.
const childEnv = "SYMBOL_TEST_CHILD"

func TestMain(m *testing.M) {
	if args := strings.Fields(os.Getenv(childEnv)); len(args) == 2 {
		pid, _ := strconv.Atoi(args[0])
		addr, _ := strconv.ParseUint(args[1], 16, 64)
		if err := priv.Drop(priv.SysPtrace, priv.DACReadSearch); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println(symbol.NewUser().Name(int32(pid), addr))
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// What the recorder keeps after its drop must suffice to name functions of a
// program that belongs to root, in a directory that nobody else may enter.
func TestNamesAfterDrop(t *testing.T) {
	cc, err := exec.LookPath("cc")
	if os.Getuid() != 0 || err != nil {
		t.Skip("needs root and a C compiler")
	}
	dir := filepath.Join(t.TempDir(), "private")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	src, bin := filepath.Join(dir, "p.c"), filepath.Join(dir, "p")
	const source = `#include <stdio.h>
int secret(int x) { return x; }
int main(void) { printf("%lx\n", (long)secret); fflush(stdout); return secret(getchar()); }
`
	if err := os.WriteFile(src, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(cc, "-o", bin, src).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	prog := exec.Command(bin)
	in, _ := prog.StdinPipe()
	out, _ := prog.StdoutPipe()
	if err := prog.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { in.Close(); prog.Wait() }()
	var addr string
	if _, err := fmt.Fscanln(out, &addr); err != nil {
		t.Fatal(err)
	}
	child := exec.Command("/proc/self/exe")
	child.Env = append(os.Environ(), fmt.Sprintf("%s=%d %s", childEnv, prog.Process.Pid, addr))
	got, err := child.CombinedOutput()
	if err != nil || strings.TrimSpace(string(got)) != "secret+0x0" {
		t.Errorf("%q, %v; want secret+0x0", got, err)
	}
}
