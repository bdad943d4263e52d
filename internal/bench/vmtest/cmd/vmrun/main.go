// Command vmrun runs a command in a real kernel, for daily work:
//
//	go run ./internal/bench/vmtest/cmd/vmrun -kernel 6.12 -- uname -a
//	go run ./internal/bench/vmtest/cmd/vmrun -all -share . -- ./probe.test -test.v
//
// It leaves with the command's exit code; 125 means that there is none.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"netrec/internal/bench/vmtest"
)

// noExitCode is the exit code when the guest gave none.
const noExitCode = 125

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code, err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "vmrun: %v\n", err)
		var missing *vmtest.MissingError
		if errors.As(err, &missing) {
			fmt.Fprintf(os.Stderr, "vmrun: hint: apt-get install %s\n", strings.Join(missing.Packages(), " "))
		}
	}
	os.Exit(code)
}

func run(ctx context.Context, args []string) (int, error) {
	fs := flag.NewFlagSet("vmrun", flag.ContinueOnError)
	kernels := fs.String("kernel", "", "kernels to run, separated by commas, or all: "+
		strings.Join(vmtest.Names(), ", ")+" (default NETREC_KERNELS, or "+vmtest.DefaultKernel+")")
	all := fs.Bool("all", false, "run on every kernel")
	list := fs.Bool("list", false, "show the cached kernels and leave")
	fetch := fs.Bool("fetch", false, "only make the kernels ready")
	cfg := vmtest.Config{Output: os.Stdout}
	fs.StringVar(&cfg.Debian, "debian", vmtest.DefaultDebian, "release whose programs the guest has")
	fs.StringVar(&cfg.Share, "share", "", "host `folder` to see as /host")
	fs.BoolVar(&cfg.System, "system", false, "boot a Debian with systemd, and run the command when it is up")
	fs.IntVar(&cfg.CPUs, "cpus", vmtest.DefaultCPUs, "processors of the guest")
	fs.IntVar(&cfg.MemoryMiB, "memory", vmtest.DefaultMemoryMiB, "memory of the guest in MiB")
	fs.DurationVar(&cfg.Timeout, "timeout", vmtest.DefaultTimeout, "longest life of a guest")
	if err := fs.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0, nil
		}
		return noExitCode, nil
	}
	if *all {
		*kernels = "all"
	}
	names, err := vmtest.Select(*kernels)
	if err != nil {
		return noExitCode, err
	}
	switch {
	case *list:
		return listCached()
	case *fetch:
		return prepare(ctx, names)
	}
	cfg.Command = fs.Args()
	return runEach(ctx, cfg, names)
}

func listCached() (int, error) {
	cached, err := vmtest.Cached()
	if err != nil {
		return noExitCode, err
	}
	for _, k := range cached {
		fmt.Printf("%-7s %-26s %-28s %s\n", k.Name, k.Version, k.Release, k.Suite)
	}
	return 0, nil
}

func prepare(ctx context.Context, names []string) (int, error) {
	for _, name := range names {
		start := time.Now()
		k, err := vmtest.Prepare(ctx, name)
		if err != nil {
			return noExitCode, err
		}
		fmt.Fprintf(os.Stderr, "vmrun: %s is Debian %s, ready after %s\n", name, k.Version, seconds(time.Since(start)))
	}
	return 0, nil
}

// runEach runs the command on one kernel after the other and leaves with the
// first exit code that is not 0.
func runEach(ctx context.Context, cfg vmtest.Config, names []string) (int, error) {
	code, start := 0, time.Now()
	var errs []error
	for _, name := range names {
		cfg.Kernel = name
		res, err := vmtest.Run(ctx, cfg)
		if err != nil {
			errs = append(errs, err)
		} else {
			fmt.Fprintf(os.Stderr, "vmrun: %s (Debian %s): exit code %d, boot %s, command %s, total %s\n",
				name, res.Kernel.Version, res.ExitCode, seconds(res.Boot), seconds(res.Run), seconds(res.Total))
		}
		switch {
		case err != nil:
			code = noExitCode
		case code == 0:
			code = res.ExitCode
		}
	}
	if len(names) > 1 {
		fmt.Fprintf(os.Stderr, "vmrun: %d kernels in %s\n", len(names), seconds(time.Since(start)))
	}
	return code, errors.Join(errs...)
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }
