package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/spf13/pflag"

	"netrec/record"
	"netrec/record/place"
)

// rotateHelp is the part of the help that the flags cannot say one by one.
const rotateHelp = `Files. --out-dir DIR writes DIR/dt=DATE/host=NAME/TIME.parquet (UTC), the usual layout of
partitioned data. -C, -G and -W rotate as in tcpdump and can be combined; with -o cap.parquet
the files are cap-TIME.parquet. Nothing is lost between two files. Each file is complete by
itself, and netrec analyze reads all files of one recording as one. -W removes the oldest files
with such names in that directory, including those of earlier recordings. Files belong to the
user who ran sudo, otherwise to the owner of the directory.
`

// rotateFlags are the flags about further files as they were given.
type rotateFlags struct {
	dir   string
	size  string
	every string
	keep  int
}

func (r *rotateFlags) add(fl *pflag.FlagSet) {
	fl.StringVar(&r.dir, "out-dir", "", "write files into this directory, by day and host, instead of --output")
	fl.StringVarP(&r.size, "file-size", "C", "", "start a new file after this many million bytes, or a size such as 500M")
	fl.StringVarP(&r.every, "file-time", "G", "", "start a new file after this many seconds, or a time such as 1h")
	fl.IntVarP(&r.keep, "file-count", "W", 0, "keep this many files and remove the oldest")
}

// leastFile is the smallest size for -C: less holds little but facts about the host.
const leastFile = 1_000_000

// finish turns the flags into options; output tells whether --output was given.
func (r *rotateFlags) finish(o *record.Options, output bool) error {
	var err error
	if o.Rotate.Bytes, err = parseFileSize(r.size); err != nil {
		return fmt.Errorf("-C %s: %w", r.size, err)
	}
	if o.Rotate.Every, err = parseFileTime(r.every); err != nil {
		return fmt.Errorf("-G %s: %w", r.every, err)
	}
	switch {
	case r.keep < 0:
		return fmt.Errorf("-W %d: want a number of files", r.keep)
	case r.dir != "" && output:
		return errors.New("--out-dir and --output: choose one")
	case r.dir != "":
		host, err := os.Hostname()
		if err != nil {
			return fmt.Errorf("name of the host: %w", err)
		}
		p := place.Hive(r.dir, host, r.keep)
		o.Place = &p
	case r.size != "" || r.every != "" || r.keep > 0:
		p := place.Timed(o.Output, r.keep)
		o.Place = &p
	}
	return nil
}

// parseFileSize reads millions of bytes, as tcpdump does, or a size with its unit.
func parseFileSize(s string) (int64, error) {
	if s == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(s, 10, 32)
	if n *= 1_000_000; err != nil {
		n, err = parseBytes(s)
	}
	if err == nil && n < leastFile {
		err = errors.New("want at least 1 (one million bytes)")
	}
	return n, err
}

// parseFileTime reads seconds, as tcpdump does, or a time with its unit.
func parseFileTime(s string) (time.Duration, error) {
	if s == "" {
		return 0, nil
	}
	d, err := parseTime(s)
	if err == nil && d < time.Second {
		err = errors.New("want at least 1s")
	}
	return d, err
}
