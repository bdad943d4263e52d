package vmtest

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

var kernelList = flag.String("kernels", "", "kernels to boot: names separated by commas, or all")

// selected gives the kernels to boot. Only an explicit wish skips booting: a
// missing tool is a failure that says what to install.
func selected(t *testing.T) []string {
	t.Helper()
	if testing.Short() {
		t.Skip("-short boots no kernel")
	}
	names, err := Select(*kernelList)
	if err != nil {
		t.Fatal(err)
	}
	if names == nil {
		t.Skip("NETREC_KERNELS=none boots no kernel")
	}
	return names
}

// checks is everything that one boot can show. Each line "key value" is looked
// up by the test; the exit code is an odd one.
const checks = `
echo release $(uname -r)
test -s /sys/kernel/btf/vmlinux && echo btf yes
echo writable $(touch /etc/x && echo yes)
echo variable $GREETING
echo share $(cat /host/in)
echo from the guest >/host/out
echo traced $(grep -c inet_sock_set_state /sys/kernel/tracing/available_events)
ip netns add b
ip link add va type veth peer name vb netns b
ip addr add 10.9.0.1/24 dev va; ip link set va up
ip -n b addr add 10.9.0.2/24 dev vb; ip -n b link set vb up
tc qdisc add dev va root netem delay 40ms
echo shaped $(tc qdisc show dev va | grep -c 'netem.*delay 40ms')
echo ping $(ping -c 3 -i 0.2 10.9.0.2 | grep -c 'bytes from')
tc qdisc change dev va root netem loss 100%
echo lost $(ping -c 2 -W 1 10.9.0.2 | grep -c '100% packet loss')
modprobe -a tcp_bbr sch_fq mac80211_hwsim && echo modules loaded
echo wifi $(iw dev | grep -c Interface)
awk 'BEGIN { for (i = 1; i <= 20011; i++) print "line", i }'
exit 173
`

func TestBoot(t *testing.T) {
	for _, name := range selected(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			share := t.TempDir()
			if err := os.WriteFile(filepath.Join(share, "in"), []byte("from the host\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			var live bytes.Buffer
			res, err := Run(t.Context(), Config{
				Kernel: name, Share: share, Command: []string{"sh", "-c", checks},
				Env: []string{"GREETING=it's a 'quoted' $HOME"}, Output: &live,
			})
			if err != nil {
				t.Fatalf("%v\noutput:\n%s", err, res.Output)
			}
			t.Logf("%s: boot %v, run %v, total %v", res.Kernel.Version, res.Boot, res.Run, res.Total)
			checkBoot(t, res)
			if !bytes.Equal(live.Bytes(), res.Output) {
				t.Errorf("live copy has %d bytes, output %d", live.Len(), len(res.Output))
			}
			out, err := os.ReadFile(filepath.Join(share, "out"))
			if err != nil || string(out) != "from the guest\n" {
				t.Errorf("shared file holds %q, %v", out, err)
			}
		})
	}
}

func checkBoot(t *testing.T, res Result) {
	t.Helper()
	if res.ExitCode != 173 || res.Crashed {
		t.Errorf("exit code %d, crashed %v, want 173 and false", res.ExitCode, res.Crashed)
	}
	want := map[string]string{
		"release": res.Kernel.Release, "btf": "yes", "writable": "yes", "share": "from the host",
		"variable": "it's a 'quoted' $HOME", "traced": "1",
		"shaped": "1", "ping": "3", "lost": "1", "modules": "loaded", "wifi": "2",
	}
	next := 1
	for line := range strings.Lines(string(res.Output)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if key == "line" {
			if value != strconv.Itoa(next) {
				t.Fatalf("line %d of the output says %q", next, value)
			}
			next++
			continue
		}
		if w, ok := want[key]; ok && w != value {
			t.Errorf("%s is %q, want %q", key, value, w)
		}
		delete(want, key)
	}
	if next != 20012 {
		t.Errorf("%d numbered lines, want 20011", next-1)
	}
	for key := range want {
		t.Errorf("the guest did not say %s; output:\n%.2000s", key, res.Output)
	}
	if res.Boot <= 0 || res.Run <= 0 || res.Total < res.Boot+res.Run {
		t.Errorf("times boot %v, run %v, total %v do not add up", res.Boot, res.Run, res.Total)
	}
}

func TestCrash(t *testing.T) {
	name := selected(t)[0]
	t.Parallel()
	res, err := Run(t.Context(), Config{
		Kernel:  name,
		Command: []string{"sh", "-c", "echo before; echo c >/proc/sysrq-trigger; echo after"},
	})
	var crash *CrashError
	if !errors.As(err, &crash) {
		t.Fatalf("a crash gives %v, want a CrashError", err)
	}
	if !res.Crashed || res.ExitCode != -1 {
		t.Errorf("crashed %v, exit code %d, want true and -1", res.Crashed, res.ExitCode)
	}
	if !strings.Contains(crash.Console, "sysrq") {
		t.Errorf("the console's end does not name the reason:\n%s", crash.Console)
	}
	if string(res.Output) != "before\n" {
		t.Errorf("output before the crash is %q", res.Output)
	}
}
