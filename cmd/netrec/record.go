package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"netrec/record"
	"netrec/record/filter"
	"netrec/schema"
)

// recordFlags are the flags of netrec record as they were given.
type recordFlags struct {
	opt       record.Options
	events    []string
	profile   string
	mechanism []string
	packets   string
	budget    string
	buffer    string
	quiet     bool
	files     rotateFlags
}

func recordCmd() *cobra.Command {
	var f recordFlags
	cmd := &cobra.Command{
		Use:         "record [flags] [-- command …]",
		Annotations: map[string]string{privileged: "yes"},
		Short:       "record events of this host into a Parquet file",
		Long: `Record events until the time is up, you press Ctrl-C, or the command after -- ends.
The file is readable at any moment, even after a crash.

Recording needs root, or CAP_BPF and CAP_PERFMON; socket owners and user stacks also need
CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH. Once the probes are attached, the recorder drops all
privileges and becomes an unprivileged user (netrec, or nobody if that does not exist). While user
stacks are recorded, a second process keeps the capabilities to open other users' files, to name
the frames. A seccomp filter lets it read files and nothing else.

Attaching the probes takes about a second, and much longer on a host without free CPU. After
--start-within the recording begins with the probes that are attached, those of light first, and
names the missing ones. If it has not begun after twice that time, it gives up with exit code 1.

The recorder runs at nice -5, so that a host without free CPU does not cost events, unless you start it
with a nice value of your own.

Name lookups are recorded in the C libraries that exist at the start, including those of containers,
and for programs that start later. DNS calls in containers that start during the recording are
missed unless you pass --dns-follow; the file lists their libraries. --dns-follow needs
CAP_SYS_ADMIN, and a helper process keeps it: the helper only attaches probes to C libraries.

` + rotateHelp + `
` + profileHelp() + `
` + budgetHelp + `
` + filterHelp + `
Exit codes: 0 recorded; 1 not recorded, or stopped early; 4 recorded, but events were
lost (the summary and the file say which). With a command after --, the command's exit
code if it is not 0.`,
		Example: `  netrec record -t 60s -o cap.parquet
  netrec record -o cap.parquet --port 443 --addr 10.0.0.0/8
  netrec record -o cap.parquet -e tcp,dns -- curl -s example.org
  netrec record --out-dir /var/captures -G 1h -C 500 -W 48
  netrec record -o cap.parquet --count-func 'tcp_*' --count-tp 'sock:*'`,
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.finish(c, args); err != nil {
				return err
			}
			l := newLive(c.ErrOrStderr(), &f.opt)
			if !f.quiet {
				f.opt.Notice, f.opt.Status = l.notice(c.ErrOrStderr()), l.show
			}
			sum, err := record.Run(c.Context(), f.opt)
			l.clear()
			if sum != nil && !f.quiet {
				printSummary(c.ErrOrStderr(), cmp.Or(sum.Path, f.opt.Output), sum)
				if l.terminal {
					fmt.Fprintln(c.ErrOrStderr(), next(&f.opt, f.files.dir, sum))
				}
			}
			if err != nil {
				return recordError(err)
			}
			return summaryCode(sum)
		},
	}
	fl := cmd.Flags()
	fl.StringVarP(&f.opt.Output, "output", "o", "netrec.parquet", "file to write; created with mode 0600")
	f.files.add(fl)
	fl.VarP((*span)(&f.opt.For), "time", "t", "stop after this time, such as 60s or 5m; a number alone is in seconds")
	fl.Int64VarP(&f.opt.Count, "count", "c", 0, "stop after at least this many events")
	fl.StringSliceVarP(&f.events, "events", "e", nil, "record these events and groups; -name leaves one out (see netrec probes)")
	fl.StringVar(&f.profile, "profile", string(schema.Default), "light, default or full")
	fl.StringVar(&f.packets, "packets", "", "record this share of packets, interrupts and file I/O: 1/N, all or none (default 1/16; all with --profile full or --events)")
	fl.StringVar(&f.budget, "budget", "", "keep probes and recorder below this share of the host's CPU time, such as 2%, by sampling hot events")
	fl.StringVar(&f.buffer, "buffer", "", "kernel memory for events that are not yet written, such as 64M (default 32M, at least 1M per CPU)")
	fl.DurationVar(&f.opt.Within, "commit", record.DefaultWithin, "write events to the file at least this often, 1s to 1m; a crash loses no more than that, and longer is cheaper")
	fl.DurationVar(&f.opt.Start, "start-within", record.DefaultStart, "attach probes for no longer than this, then record with those that are attached")
	f.opt.Filters = filter.Words{}
	addFilters(fl, f.opt.Filters)
	fl.StringSliceVar(&f.opt.CountFuncs, "count-func", nil, "count calls of matching kernel functions, such as 'tcp_*', once a second (event func_count)")
	fl.StringSliceVar(&f.opt.CountTPs, "count-tp", nil, "count hits of matching tracepoints, such as 'tcp:*', once a second (event tp_count)")
	fl.BoolVar(&f.opt.IOStacks, "io-stacks", false, "also record the user stack of every send and receive (event sock_stack)")
	fl.BoolVar(&f.opt.AllStacks, "all-stacks", false, "record the kernel stack of every dropped and sent packet; by default, drops at socket close and sends are sampled")
	fl.StringVar(&f.opt.Ready, "ready-file", "", "create this file once every probe is attached")
	fl.StringArrayVar(&f.opt.Libraries, "dns-lib", nil, "also record name lookups in this file: a C library with another name, or a static binary with symbols")
	fl.BoolVar(&f.opt.Follow, "dns-follow", false, "keep a privileged helper that attaches probes to C libraries of containers started during the recording")
	fl.StringSliceVar(&f.mechanism, "hook", nil, "EVENT=KIND: use only this mechanism for an event (raw_tp, fentry, fexit, kprobe …)")
	fl.BoolVarP(&f.quiet, "quiet", "q", false, "print errors only")
	fl.BoolVar(&f.opt.Force, "force", false, "overwrite the file if it exists")
	fl.SortFlags = false
	completeRecord(cmd)
	return cmd
}

func profileHelp() string {
	var b strings.Builder
	b.WriteString("Profiles; each includes the events of the ones above it:\n")
	for _, p := range schema.Profiles {
		var names []string
		for _, e := range schema.Events {
			if e.Profile == p && !e.Drawn() {
				names = append(names, e.Name)
			}
		}
		fmt.Fprintf(&b, "  %-8s %s\n  %-8s %s\n", p, strings.Join(names, " "), "", profileCost[p])
		if p == schema.Default {
			b.WriteString(packetsHelp())
		}
	}
	return b.String()
}

func (f *recordFlags) finish(c *cobra.Command, args []string) error {
	var err error
	if f.opt.Events, err = record.Select(f.events, schema.Profile(f.profile)); err != nil {
		var unknown *record.UnknownEventError
		if errors.As(err, &unknown) {
			return hinted{err, didYouMean(unknown.Name, record.EventWords())}
		}
		return err
	}
	if f.opt.Output == "-" {
		return hinted{errors.New("-o -: a recording cannot go through a pipe"), "its file can be read while it grows: netrec analyze FILE"}
	}
	f.opt.Profile = schema.Profile(f.profile)
	if err = errors.Join(f.share(), f.limit()); err != nil {
		return err
	}
	if f.opt.Buffer, err = parseBytes(f.buffer); err != nil {
		return fmt.Errorf("--buffer %s: %w", f.buffer, err)
	}
	if f.opt.Within < time.Second || f.opt.Within > time.Minute {
		return fmt.Errorf("--commit %s: want a time between 1s and 1m", f.opt.Within)
	}
	if f.opt.Start < time.Second || f.opt.Start > time.Hour {
		return fmt.Errorf("--start-within %s: want a time between 1s and 1h", f.opt.Start)
	}
	f.opt.Mechanism = map[string]schema.Kind{}
	for _, m := range f.mechanism {
		event, kind, ok := strings.Cut(m, "=")
		if !ok || schema.ByName(event) == nil {
			return hinted{fmt.Errorf("--hook %s: want EVENT=KIND", m), "netrec probes lists events and mechanisms"}
		}
		f.opt.Mechanism[event] = schema.Kind(kind)
	}
	if err := f.checkPatterns(); err != nil {
		return err
	}
	if err := f.files.finish(&f.opt, c.Flags().Changed("output")); err != nil {
		return err
	}
	if at := c.ArgsLenAtDash(); at > 0 || (at < 0 && len(args) > 0) {
		return hinted{fmt.Errorf("unexpected argument %q", args[0]), "put the command to run after --"}
	}
	f.opt.Command = args
	f.opt.Args = os.Args
	f.opt.Version = version
	f.opt.Manager = os.Getenv("NOTIFY_SOCKET")
	return nil
}

// checkPatterns says what is wrong before anything is attached.
func (f *recordFlags) checkPatterns() error {
	for _, p := range f.opt.CountFuncs {
		if _, err := path.Match(p, ""); err != nil {
			return fmt.Errorf("--count-func %s: %w", p, err)
		}
	}
	for _, p := range f.opt.CountTPs {
		group, name, ok := strings.Cut(p, ":")
		if _, err := path.Match(group+name, ""); err != nil || !ok {
			return hinted{fmt.Errorf("--count-tp %s: want GROUP:NAME, both may have * and ?", p), "tracepoints are listed in /sys/kernel/tracing/available_events"}
		}
	}
	return nil
}

func recordError(err error) error {
	if errors.Is(err, fs.ErrExist) {
		return hinted{err, "--force overwrites it"}
	}
	return err
}

func summaryCode(s *record.Summary) error {
	if s.Exit != 0 {
		return exitCode(s.Exit)
	}
	for _, c := range s.Counts {
		if c.Lost() > 0 {
			return exitCode(4)
		}
	}
	return nil
}

func printSummary(w io.Writer, path string, s *record.Summary) {
	var lost int64
	byEvent := map[string]schema.Count{}
	for _, c := range s.Counts {
		e := byEvent[c.Event]
		e.Add(c)
		byEvent[c.Event] = e
		lost += c.Lost()
	}
	if s.Files > 1 {
		path = fmt.Sprintf("%s, the last of %d files", path, s.Files)
	}
	fmt.Fprintf(w, "%s: %d events in %s, ended by %s\n", path, s.Rows, s.Duration.Round(time.Millisecond), s.End)
	if slow := schema.SlowAttach(int64(s.Attach)); slow != "" {
		fmt.Fprintln(w, slow)
	}
	if lost == 0 {
		fmt.Fprintln(w, "lost: none")
	}
	for _, name := range sortedKeys(byEvent) {
		c := byEvent[name]
		if c.Calls > 0 { // of an event that counts, calls are lost, and rows are another matter
			fmt.Fprintf(w, "lost: %s: %d of %d calls (interrupted probe)\n", name, c.Nested, c.Calls+c.Nested)
			c.Generated, c.Nested = c.Generated-c.Nested, 0
		}
		if c.Lost() > 0 {
			fmt.Fprintf(w, "lost: %s: %d of %d (ring full %d, too many calls in flight %d, not written %d, interrupted probe, at most %d)\n",
				name, c.Lost(), c.Generated, c.Ring, c.Scratch, c.Writer, c.Nested)
		}
	}
	perEvent := ""
	if s.Rows > 0 {
		perEvent = fmt.Sprintf(", %.1f per event", float64(s.Bytes)/float64(s.Rows))
	}
	what := "file"
	if s.Files > 1 {
		what = "files"
	}
	fmt.Fprintf(w, "%s: %d bytes%s\n", what, s.Bytes, perEvent)
	fmt.Fprintf(w, "recorder: %.3f s CPU (%.3f user, %.3f system), %.1f MiB resident, privileged for %s\n",
		float64(s.UserNS+s.SysNS)/1e9, float64(s.UserNS)/1e9, float64(s.SysNS)/1e9, float64(s.RSS)/(1<<20), s.Rooted.Round(time.Millisecond))
	if cost := s.Spent.String(); cost != "" {
		fmt.Fprintf(w, "cost: %s\n", cost)
	}
	if s.Budget != nil {
		fmt.Fprintf(w, "budget: %s\n", s.Budget.Text(0, int64(s.Duration)))
	}
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
