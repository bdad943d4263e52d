package main

import (
	"bufio"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"netrec/record/demo"
	"netrec/record/priv"
)

// sample is a recording of demo.Traffic; make sample renews it.
//
//go:embed sample.parquet
var sample []byte

// demoAnswers are the five that the demo shows.
var demoAnswers = [][]string{{"overview"}, {"tcplife"}, {"so1stbyte"}, {"skbdrop"}, {"gethostlatency"}}

func demoCmd() *cobra.Command {
	var keep string
	var shipped bool
	cmd := &cobra.Command{
		Use:         "demo",
		Annotations: map[string]string{privileged: "yes"},
		Short:       "make traffic in a namespace of its own, record it, show five answers",
		Long: `Generate traffic in a new network namespace, record it with the hooks that this kernel
allows, and show five answers from the recording. Nothing outside the namespace is
recorded or changed. Without the privileges to record, the answers come from a sample
recording in the binary. The recording is kept: in the file that -o names, or in a
new temporary folder.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return runDemo(c, keep, shipped) },
	}
	cmd.Flags().StringVarP(&keep, "output", "o", "", "write the recording to this file")
	cmd.Flags().BoolVar(&shipped, "sample", false, "record nothing; use the sample recording in the binary")
	cmd.AddCommand(&cobra.Command{Use: "traffic", Hidden: true, Annotations: map[string]string{privileged: "yes"}, Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return demoTraffic(c.Context(), os.Stdin, c.OutOrStdout()) }})
	return cmd
}

func runDemo(c *cobra.Command, keep string, shipped bool) error {
	file, err := demoFile(keep)
	if err != nil {
		return err
	}
	out := c.OutOrStdout()
	lacks := priv.Need()
	if lacks != nil && !shipped {
		fmt.Fprintf(out, "netrec demo: cannot record here (%v); showing the sample recording instead\n", lacks)
	}
	if shipped || lacks != nil {
		if err := os.WriteFile(file, sample, 0o600); err != nil {
			return fmt.Errorf("unpack the sample recording: %w", err)
		}
	} else if err := recordDemo(c.Context(), out, c.ErrOrStderr(), file); err != nil {
		return err
	}
	for _, a := range demoAnswers {
		args := append([]string{"analyze", file, "--no-pager"}, a...)
		fmt.Fprintf(out, "\n$ netrec analyze %s %s\n", file, a[0])
		if code := run(args, out, c.ErrOrStderr()); code != 0 && code != codeNotInFile {
			return exitCode(code)
		}
	}
	fmt.Fprintf(out, "\nThe recording is %s: the commands above work on it.\n", file)
	if keep == "" {
		fmt.Fprintf(out, "Now on a real host: netrec record -t 60s -o cap.parquet\n")
	}
	return nil
}

// demoFile is where the recording goes. It stays: answers suggest commands on it.
func demoFile(keep string) (string, error) {
	if keep != "" {
		return keep, nil
	}
	dir, err := os.MkdirTemp("", "netrec-demo-")
	if err != nil {
		return "", fmt.Errorf("make a place for the recording: %w", err)
	}
	return filepath.Join(dir, "demo.parquet"), nil
}

// recordDemo runs the traffic in a namespace of its own and the recorder beside it, the
// way a user would.
func recordDemo(ctx context.Context, out, errOut io.Writer, file string) error {
	traffic, err := startTraffic(ctx)
	if err != nil {
		return err
	}
	defer traffic.kill()
	ready := file + ".ready"
	defer os.Remove(ready)
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find own binary: %w", err)
	}
	args := []string{"record", "--profile", "full", "--netns", strconv.Itoa(traffic.cmd.Process.Pid), "-t", "60s", "--start-within", "10m", "-o", file, "--ready-file", ready}
	fmt.Fprintf(out, "$ netrec record --profile full --netns … -o %s\n", file)
	rec := exec.CommandContext(ctx, self, args...)
	plain := struct{ io.Writer }{out} // no terminal: its line of status would be in the way
	rec.Stdout, rec.Stderr = plain, plain
	if err := rec.Start(); err != nil {
		return fmt.Errorf("start recording: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- rec.Wait() }()
	if err := waitFor(ready, ended); err != nil {
		return err
	}
	if err := traffic.run(); err != nil {
		fmt.Fprintf(errOut, "netrec demo: traffic: %v\n", err)
	}
	if err := rec.Process.Signal(os.Interrupt); err != nil {
		return fmt.Errorf("stop recording: %w", err)
	}
	var ee *exec.ExitError
	if err := <-ended; err != nil && !(errors.As(err, &ee) && ee.ExitCode() == 4) {
		return fmt.Errorf("record: %w", err)
	}
	return nil
}

// waitFor returns when the file is there, or with an error when the recorder has ended.
func waitFor(file string, ended <-chan error) error {
	for {
		if _, err := os.Stat(file); err == nil {
			return nil
		}
		select {
		case <-ended:
			return exitCode(1) // the recorder has said why
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// trafficChild is this program again, alone in a network namespace, waiting to be told.
type trafficChild struct {
	cmd *exec.Cmd
	in  io.WriteCloser
}

func startTraffic(ctx context.Context) (*trafficChild, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find own binary: %w", err)
	}
	cmd := exec.CommandContext(ctx, self, "demo", "traffic")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("make a pipe: %w", err)
	}
	said, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("make a pipe: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start traffic in a network namespace of its own: %w", err)
	}
	if _, err := bufio.NewReader(said).ReadString('\n'); err != nil {
		return nil, fmt.Errorf("wait for the network namespace: %w", err)
	}
	return &trafficChild{cmd, in}, nil
}

// run lets the traffic begin and waits for its end.
func (t *trafficChild) run() error {
	if err := t.in.Close(); err != nil {
		return err
	}
	return t.cmd.Wait()
}

func (t *trafficChild) kill() { _ = t.cmd.Process.Kill() }

// demoTraffic is the child: it brings its namespace up, says so, waits until its input
// is closed, and makes traffic.
func demoTraffic(ctx context.Context, in io.Reader, out io.Writer) error {
	if err := demo.Up(); err != nil {
		return err
	}
	fmt.Fprintln(out, "up")
	if _, err := io.Copy(io.Discard, in); err != nil {
		return err
	}
	return demo.Traffic(ctx)
}
