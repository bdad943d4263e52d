package vmtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// exitStatus is what QEMU leaves with when the guest ended on purpose.
const exitStatus = 0x55

// followPoll is how often the command's output is looked at for a live copy.
const followPoll = 100 * time.Millisecond

// commandLine boots quietly, makes every oops and panic an end of the guest,
// and leaves out what only costs emulated time.
const commandLine = "console=ttyS0 quiet panic=-1 oops=panic mitigations=off random.trust_cpu=1 " +
	"no_timer_check tsc=reliable rcupdate.rcu_expedited=1 net.ifnames=0"

// guest is one QEMU and the folder it shares with the host for its own needs.
type guest struct {
	cfg Config
	k   Kernel
	img image
	dir string

	stderr         bytes.Buffer
	started, ended time.Time
	// exited: QEMU ended by itself; orderly: with the status of a wanted end.
	exited, orderly bool
}

// newGuest makes the folder from which the guest takes its orders.
func newGuest(cfg Config, k Kernel, img image) (*guest, error) {
	dir, err := os.MkdirTemp("", "vmtest-")
	if err != nil {
		return nil, fmt.Errorf("creating the guest's folder: %w", err)
	}
	g := &guest{cfg: cfg, k: k, img: img, dir: dir}
	ramfs, err := initramfs(img, k)
	if err != nil {
		os.RemoveAll(dir)
		return nil, err
	}
	files := map[string][]byte{"init": initScript, "last": lastScript, "command": []byte(cfg.script())}
	if cfg.System {
		files["init"] = systemScript
	}
	if cfg.Share != "" {
		files["share"] = nil
	}
	if isDir(k.headers()) {
		files["headers"] = nil
	}
	if err := os.Mkdir(g.path(""), 0o755); err != nil {
		os.RemoveAll(dir)
		return nil, fmt.Errorf("creating the guest's folder: %w", err)
	}
	for name, text := range files {
		if err := os.WriteFile(g.path(name), text, 0o755); err != nil {
			os.RemoveAll(dir)
			return nil, fmt.Errorf("writing the guest's orders: %w", err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "initramfs"), ramfs, 0o644); err != nil {
		os.RemoveAll(dir)
		return nil, fmt.Errorf("writing the guest's initramfs: %w", err)
	}
	return g, nil
}

// path names a file that both sides see.
func (g *guest) path(name string) string { return filepath.Join(g.dir, "run", name) }

// args is QEMU's command line. Nothing of the host's QEMU configuration counts.
//
// One thread emulates all of the guest's CPUs: with a thread each, QEMU before 8.1 may keep
// a translation of code that another CPU changed meanwhile, and a guest that attaches a
// probe then meets a breakpoint that is long gone, forever. It is no slower either: two
// guests have two cores here.
func (g *guest) args() []string {
	args := []string{
		"-nodefaults", "-no-user-config", "-no-reboot", "-display", "none",
		"-machine", "q35,acpi=on", "-accel", "tcg,thread=single,tb-size=256",
		"-cpu", "Nehalem,+rdrand", "-smp", strconv.Itoa(g.cfg.CPUs), "-m", strconv.Itoa(g.cfg.MemoryMiB),
		"-kernel", filepath.Join(g.k.dir, "vmlinux"), "-initrd", filepath.Join(g.dir, "initramfs"),
		"-append", commandLine,
		"-chardev", "file,id=console,path=" + escape(g.path("console")), "-serial", "chardev:console",
		"-device", "virtio-serial-pci",
		"-chardev", "file,id=output,path=" + escape(g.path("output")),
		"-device", "virtserialport,chardev=output,nr=1,name=output",
		"-device", "isa-debug-exit,iobase=0xf4,iosize=0x04",
		"-drive", "if=none,id=root,format=raw,readonly=on,file=" + escape(g.img.squashfs()),
		"-device", "virtio-blk-pci,drive=root",
		"-device", "virtio-rng-pci",
	}
	args = append(args, shareArgs("run", g.path(""), false)...)
	args = append(args, shareArgs("modules", modulesIn(g.k.dir), true)...)
	if isDir(g.k.headers()) {
		args = append(args, shareArgs("headers", g.k.headers(), true)...)
	}
	if g.cfg.Share != "" {
		args = append(args, shareArgs("host", g.cfg.Share, false)...)
	}
	return args
}

// shareArgs shares a host folder over 9p under a tag.
func shareArgs(tag, path string, readonly bool) []string {
	dev := fmt.Sprintf("local,id=%s,path=%s,security_model=none,multidevs=remap", tag, escape(path))
	if readonly {
		dev += ",readonly=on"
	}
	return []string{"-fsdev", dev, "-device", fmt.Sprintf("virtio-9p-pci,fsdev=%s,mount_tag=%s", tag, tag)}
}

// escape doubles commas, which end a value in QEMU's options.
func escape(path string) string { return strings.ReplaceAll(path, ",", ",,") }

// boot runs QEMU to its end. An error means that it could not start or was
// ended from here; how the guest itself ended is in exited and orderly.
func (g *guest) boot(ctx context.Context) error {
	qemu, err := findTool(bootTools[0].Name)
	if err != nil {
		return &MissingError{bootTools}
	}
	// Pdeathsig follows the thread that starts QEMU, so the thread must stay.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd := exec.CommandContext(ctx, qemu, g.args()...)
	cmd.Stdout, cmd.Stderr = &g.stderr, &g.stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	g.started = time.Now()
	stop := g.follow()
	err = cmd.Run()
	g.ended = time.Now()
	if followErr := stop(); followErr != nil {
		return fmt.Errorf("copying the command's output: %w", followErr)
	}
	if ctx.Err() != nil {
		return fmt.Errorf("guest stopped: %w", context.Cause(ctx))
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return fmt.Errorf("starting qemu: %w", err)
	}
	g.exited = true
	g.orderly = exit != nil && exit.ExitCode() == exitStatus
	return nil
}

// follow copies the growing output to cfg.Output until the returned function
// is called, which copies the rest.
func (g *guest) follow() (stop func() error) {
	if g.cfg.Output == nil {
		return func() error { return nil }
	}
	done, result := make(chan struct{}), make(chan error, 1)
	go func() { result <- g.copyOutput(done) }()
	return func() error {
		close(done)
		return <-result
	}
}

func (g *guest) copyOutput(done <-chan struct{}) error {
	var f *os.File
	tick := time.NewTicker(followPoll)
	defer tick.Stop()
	for last := false; ; {
		if f == nil {
			f, _ = os.Open(g.path("output"))
		}
		if f != nil {
			if _, err := io.Copy(g.cfg.Output, f); err != nil {
				f.Close()
				return err
			}
		}
		if last {
			break
		}
		select {
		case <-done:
			last = true
		case <-tick.C:
		}
	}
	if f == nil {
		return nil
	}
	return f.Close()
}
