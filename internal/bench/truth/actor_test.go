package truth

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// actorEnv has the part of a process that this binary starts from itself: filters tell
// processes, users and cgroups apart, so there must be some.
const actorEnv = "NETREC_ACTOR"

func TestMain(m *testing.M) {
	if part := os.Getenv(actorEnv); part != "" {
		if err := act(part); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// exchange is connections of one client to one server, whose port names it. Each message
// is echoed.
type exchange struct {
	Net            string // tcp or udp
	Addr           netip.AddrPort
	Mapped         bool // the client's socket is an IPv6 one, though the address is not
	Conns, Msgs    int
	Server, Client string
}

// part is what an actor is and does.
type part struct {
	Name, Netns, Cgroup string
	UID                 int
	Serve, Connect      []exchange
	Pings               int // to both loopback addresses
}

// act plays a part: it says "ready" when it is who it should be, "listening" and "done"
// with its clients, each when it was told to go on, and ends when its servers have nothing
// left to serve.
func act(text string) error {
	var p part
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(p.Cgroup, "cgroup.procs"), []byte("0"), 0); err != nil {
		return err
	}
	if p.UID != 0 {
		if err := unix.Setuid(p.UID); err != nil {
			return fmt.Errorf("setuid: %w", err)
		}
	}
	lines := bufio.NewReader(os.Stdin)
	next := func(said string) error {
		fmt.Println(said)
		_, err := lines.ReadString('\n')
		return err
	}
	if err := next("ready"); err != nil {
		return err
	}
	var served sync.WaitGroup
	errs := make(chan error, len(p.Serve))
	for _, x := range p.Serve {
		fd, err := x.listen()
		if err != nil {
			return fmt.Errorf("listen on %s: %w", x.Addr, err)
		}
		served.Go(func() { errs <- x.serve(fd) })
	}
	if err := next("listening"); err != nil {
		return err
	}
	if err := ping(p.Pings); err != nil {
		return fmt.Errorf("ping: %w", err)
	}
	for _, x := range p.Connect {
		for range max(1, x.Conns) {
			if err := x.connect(); err != nil {
				return fmt.Errorf("connect to %s: %w", x.Addr, err)
			}
		}
	}
	fmt.Println("done")
	served.Wait()
	close(errs)
	for err := range errs {
		if err != nil {
			return fmt.Errorf("serve: %w", err)
		}
	}
	return nil
}

// troupe is actors at work.
type troupe struct {
	cmds  []*exec.Cmd
	lines []*bufio.Reader
	stdin []interface{ Write([]byte) (int, error) }
	pids  map[int64]string // names by process
}

// enter starts the actors. Each runs under its own name: a link to this binary.
func enter(t *testing.T, parts []part) *troupe {
	t.Helper()
	tr := &troupe{pids: map[int64]string{}}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, p := range parts {
		link := filepath.Join(dir, p.Name)
		text, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(self, link); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(link)
		cmd.Env = append(os.Environ(), actorEnv+"="+string(text))
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := startIn(p.Netns, cmd); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cmd.Process.Kill() })
		tr.cmds, tr.lines, tr.stdin = append(tr.cmds, cmd), append(tr.lines, bufio.NewReader(out)), append(tr.stdin, in)
		tr.pids[int64(cmd.Process.Pid)] = p.Name
		tr.expect(t, len(tr.cmds)-1, "ready")
	}
	return tr
}

// startIn starts a command in a network namespace, and with the file systems of this one,
// which ip netns exec would cover. The thread is never used again.
func startIn(netns string, cmd *exec.Cmd) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread()
		f, err := os.Open("/run/netns/" + netns)
		if err == nil {
			err = unix.Setns(int(f.Fd()), unix.CLONE_NEWNET)
			f.Close()
		}
		if err == nil {
			err = cmd.Start()
		}
		done <- err
	}()
	return <-done
}

func (tr *troupe) expect(t *testing.T, i int, want string) {
	t.Helper()
	if line, err := tr.lines[i].ReadString('\n'); err != nil || strings.TrimSpace(line) != want {
		t.Fatalf("actor %d said %q, %v, want %s", i, line, err, want)
	}
}

// play lets all listen, then the clients of one actor after the other run, and all come
// to their end.
func (tr *troupe) play(t *testing.T) {
	t.Helper()
	for _, said := range []string{"listening", "done"} {
		for i := range tr.cmds {
			if _, err := tr.stdin[i].Write([]byte("go on\n")); err != nil {
				t.Fatal(err)
			}
			tr.expect(t, i, said)
		}
	}
	for i, c := range tr.cmds {
		if err := c.Wait(); err != nil {
			t.Fatalf("actor %d: %v", i, err)
		}
	}
}

// stage is two namespaces with a link between them, and two cgroups in one.
type stage struct {
	a, b        string // namespaces
	group       string // both cgroups are in it
	left, right string
	container   string // id of the right one, as container engines have them
}

func newStage(t *testing.T) stage {
	t.Helper()
	made++
	s := stage{a: fmt.Sprintf("nrfa%d-%d", os.Getpid(), made), container: fmt.Sprintf("%012x%052x", os.Getpid()*1_000_003, made)}
	s.b = strings.Replace(s.a, "nrfa", "nrfb", 1)
	run := func(line string) {
		t.Helper()
		if out, err := exec.Command("ip", strings.Fields(line)...).CombinedOutput(); err != nil {
			t.Fatalf("ip %s: %v: %s", line, err, out)
		}
	}
	for _, n := range []string{s.a, s.b} {
		run("netns add " + n)
		t.Cleanup(func() { _ = exec.Command("ip", "netns", "del", n).Run() })
		run("-n " + n + " link set lo up")
	}
	run("-n " + s.a + " link add va type veth peer name vb netns " + s.b)
	for i, n := range []string{s.a, s.b} {
		dev := []string{"va", "vb"}[i]
		run("-n " + n + " link set " + dev + " up")
		run("-n " + n + " addr add 10.77.0." + strconv.Itoa(i+1) + "/24 dev " + dev)
		run("-n " + n + " addr add fd77::" + strconv.Itoa(i+1) + "/64 nodad dev " + dev)
	}
	root := "/sys/fs/cgroup"
	if _, err := os.Stat(root + "/unified/cgroup.procs"); err == nil {
		root += "/unified"
	}
	s.group = filepath.Join(root, s.a)
	s.left, s.right = filepath.Join(s.group, "left"), filepath.Join(s.group, "docker-"+s.container+".scope")
	for _, dir := range []string{s.group, s.left, s.right} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.Remove(dir) })
	}
	return s
}
