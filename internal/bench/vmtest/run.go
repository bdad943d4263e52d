package vmtest

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Process 1 of a guest that only runs a command, or what goes before systemd; and how
// both end.
var (
	//go:embed guest/init.sh
	initScript []byte
	//go:embed guest/system.sh
	systemScript []byte
	//go:embed guest/last.sh
	lastScript []byte
)

// Defaults for the zero values of [Config].
const (
	DefaultCPUs      = 2
	DefaultMemoryMiB = 1024
	DefaultTimeout   = 5 * time.Minute
)

// maxOutput bounds what is read back of a command's output and of the console.
const maxOutput = 64 << 20

// Config says what to run where.
type Config struct {
	// Kernel is one of [Names].
	Kernel string
	// Debian is the release whose programs the guest has; see [DefaultDebian].
	Debian string
	// Share is a host folder, seen as /host in the guest, where the command
	// starts. Empty: none.
	Share string
	// Command and its arguments, found in the guest's PATH or below /host.
	Command []string
	// Env are additional variables, NAME=value.
	Env []string
	// System boots a Debian with systemd, and runs the command as root when that is up.
	System bool
	// CPUs, MemoryMiB: see the defaults.
	CPUs      int
	MemoryMiB int
	// Timeout bounds the guest's whole life, without the wait for a free slot
	// and without fetching.
	Timeout time.Duration
	// Output gets a live copy of what the command prints. May be nil.
	Output io.Writer
}

// Result is what came of it. It is filled as far as known also with an error.
type Result struct {
	// Kernel that ran.
	Kernel Kernel
	// Output is the command's standard output and standard error, in order.
	Output []byte
	// ExitCode of the command as its shell gives it (128 + signal for a signal);
	// -1 when there is none.
	ExitCode int
	// Crashed: the guest ended without giving an exit code.
	Crashed bool
	// Console is the end of the kernel's messages.
	Console string
	// Impossible is why the guest was booted a second time: the emulator had made a CPU of
	// a kind that there is not; see [CrashError.Impossible]. Empty if it was not.
	Impossible string
	// Boot is from the start of QEMU to the start of the command, Run the
	// command's own time, Total the guest's whole life.
	Boot, Run, Total time.Duration
}

// CrashError says that the guest ended by itself: a panic, a triple fault, or
// QEMU going away.
type CrashError struct {
	// Console is the end of what the kernel wrote.
	Console string
	// QEMU is what the emulator said on its standard error.
	QEMU string
}

// Error gives the end of the console, which says why.
func (e *CrashError) Error() string {
	msg := "the guest ended without an exit code"
	if e.QEMU != "" {
		msg += "; qemu: " + e.QEMU
	}
	if e.Console != "" {
		msg += "; console:\n" + e.Console
	}
	return msg
}

// flags are a CPU's, as a kernel that crashes prints them.
var flags = regexp.MustCompile(`EFLAGS: ([0-9a-f]{8})`)

// reservedFlags are zero on every CPU.
const reservedFlags = 0xffc0_0000

// Impossible is the state of the CPU, as the kernel printed it, that no CPU can be in; empty
// if there is none. QEMU 7.2 rarely (once in some hundred guests) goes on after an interrupt
// with an address for flags. The kernel is not to blame, nor is what runs in it.
func (e *CrashError) Impossible() string {
	for _, m := range flags.FindAllStringSubmatch(e.Console, -1) {
		if bits, err := strconv.ParseUint(m[1], 16, 32); err == nil && bits&reservedFlags != 0 {
			return m[0]
		}
	}
	return ""
}

// Run boots a kernel, runs a command in it and gives back what it printed and
// its exit code, which is not an error here. A crash is a [*CrashError]; what
// the command had printed before it is in the result. A crash that only the emulator can
// have made is followed by one more try.
func Run(ctx context.Context, cfg Config) (Result, error) {
	res, err := runOnce(ctx, cfg)
	var crash *CrashError
	if !errors.As(err, &crash) || crash.Impossible() == "" {
		return res, err
	}
	res, err = runOnce(ctx, cfg)
	res.Impossible = crash.Impossible()
	return res, err
}

func runOnce(ctx context.Context, cfg Config) (Result, error) {
	res := Result{ExitCode: -1}
	if err := cfg.complete(); err != nil {
		return res, err
	}
	k, err := Prepare(ctx, cfg.Kernel)
	if err != nil {
		return res, err
	}
	res.Kernel = k
	cache := filepath.Dir(k.dir)
	img, err := prepareImage(ctx, cache, cfg.Debian, cfg.root())
	if err != nil {
		return res, err
	}
	g, err := newGuest(cfg, k, img)
	if err != nil {
		return res, err
	}
	defer os.RemoveAll(g.dir)
	release, err := acquireSlot(ctx, cache)
	if err != nil {
		return res, err
	}
	defer release()
	ctx, cancel := withShare(ctx, cfg.Timeout)
	defer cancel()
	err = g.boot(ctx)
	if readErr := g.result(&res); readErr != nil {
		return res, errors.Join(err, readErr)
	}
	if err != nil {
		return res, fmt.Errorf("kernel %s after %v: %w; console:\n%s", k.Version, res.Total.Round(time.Millisecond), err, res.Console)
	}
	if res.Crashed {
		return res, fmt.Errorf("kernel %s: %w", k.Version, &CrashError{Console: res.Console, QEMU: tail(g.stderr.Bytes(), 800)})
	}
	return res, nil
}

// complete checks the configuration and fills in defaults.
func (c *Config) complete() error {
	if len(c.Command) == 0 {
		return errors.New("running a guest: no command given")
	}
	if c.Share != "" {
		abs, err := filepath.Abs(c.Share)
		if err != nil {
			return fmt.Errorf("sharing a folder: %w", err)
		}
		if !isDir(abs) {
			return fmt.Errorf("sharing %s: not a folder", abs)
		}
		c.Share = abs
	}
	for _, s := range append([]string{c.Share}, c.Env...) {
		if strings.ContainsAny(s, "\n\x00") {
			return fmt.Errorf("%q has a line break", s)
		}
	}
	if c.Debian == "" {
		c.Debian = DefaultDebian
	}
	if c.CPUs == 0 {
		c.CPUs = DefaultCPUs
	}
	if c.MemoryMiB == 0 {
		c.MemoryMiB = DefaultMemoryMiB
	}
	if c.Timeout == 0 {
		c.Timeout = DefaultTimeout
	}
	return nil
}

// script is the command as the guest's shell reads it.
func (c *Config) script() string {
	var b strings.Builder
	for _, e := range c.Env {
		name, value, _ := strings.Cut(e, "=")
		b.WriteString("export " + name + "=" + quote(value) + "\n")
	}
	b.WriteString("exec")
	for _, arg := range c.Command {
		b.WriteString(" " + quote(arg))
	}
	b.WriteString("\n")
	return b.String()
}

// quote makes one shell word of s.
func quote(s string) string {
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// result reads what the guest left in its folder. The times are those of the
// host: QEMU makes the files when the guest does.
func (g *guest) result(res *Result) error {
	res.Total = g.ended.Sub(g.started)
	var err error
	if res.Output, err = readTail(g.path("output"), maxOutput); err != nil {
		return fmt.Errorf("reading the command's output: %w", err)
	}
	console, err := readTail(g.path("console"), 16<<10)
	if err != nil {
		return fmt.Errorf("reading the console: %w", err)
	}
	res.Console = tail(console, 8000) // an oops has six thousand
	began, beganErr := os.Stat(g.path("started"))
	if beganErr == nil {
		res.Boot = began.ModTime().Sub(g.started)
	}
	code, err := os.ReadFile(g.path("exit"))
	if err == nil && g.orderly {
		if res.ExitCode, err = strconv.Atoi(strings.TrimSpace(string(code))); err != nil {
			return fmt.Errorf("reading the exit code: %w", err)
		}
		if fi, err := os.Stat(g.path("exit")); err == nil && beganErr == nil {
			res.Run = fi.ModTime().Sub(began.ModTime())
		}
		return nil
	}
	res.Crashed = g.exited
	return nil
}

// readTail reads at most the last n bytes of a file that may not exist.
func readTail(path string, n int64) ([]byte, error) {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, err
	}
	if _, err := f.Seek(max(0, size-n), io.SeekStart); err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(f, n))
}
