package main

import (
	"errors"
	"fmt"
	"time"

	"netrec/analyze/scan"
)

// use is what recordings say about the recorder itself, between the first and the last
// row of event cost after the start, which, with its megabytes of kernel symbols, is left out.
type use struct{ cpuNS, fileBytes, rows int64 }

// add reads only the rows of event cost: a recording may hold millions of others.
func (u *use) add(path, _ string) {
	f, err := scan.Open(path, scan.Options{})
	if err != nil {
		return
	}
	defer f.Close()
	var samples []use
	var asked scan.Columns
	var c struct{ UserNs, SysNs, FileBytes, Rows scan.Int }
	asked.MustBind(&c)
	err = f.Scan(scan.Query{Events: []string{"cost"}, Columns: asked.All()}, func(r *scan.Row) error {
		if r.TS > f.Meta().Start() {
			samples = append(samples, use{r.Int(c.UserNs) + r.Int(c.SysNs), r.Int(c.FileBytes), r.Int(c.Rows)})
		}
		return nil
	})
	if err != nil || len(samples) < 2 {
		return
	}
	first, last := samples[0], samples[len(samples)-1]
	u.cpuNS += last.cpuNS - first.cpuNS
	u.fileBytes += last.fileBytes - first.fileBytes
	u.rows += last.rows - first.rows
}

func (u *use) cpu() float64   { return float64(u.cpuNS) / float64(u.rows) }
func (u *use) bytes() float64 { return float64(u.fileBytes) / float64(u.rows) }

// limits prints the rates that were recorded without loss. The work paces itself by
// pausing, and the recorder has the default buffer.
func (b *bench) limits() error {
	begin("Highest rate without loss")
	fmt.Print("One thread, UDP send + receive of 1 byte without pause or with pauses, for 4 s each, default buffer, `-e sock_io`\nand the profile full.\n\n")
	fmt.Println("| events | asked for | generated a second | lost | recorder CPU per event |\n|---|---:|---:|---:|---:|")
	for _, args := range [][]string{{"-e", "sock_io"}, {"--profile", "full"}} {
		for _, rate := range []int{100_000, 200_000, 400_000, 0} {
			if err := b.limit(rate, args); err != nil {
				return err
			}
		}
	}
	return nil
}

// limit records four seconds of work at a rate of events, 0 for as many as there can be.
func (b *bench) limit(rate int, args []string) error {
	var op func() error
	var end func()
	err := b.ns.Do(func() (err error) { op, end, err = datagram.make(); return err })
	if err != nil {
		return err
	}
	defer end()
	var u use
	stop, err := netrec(u.add, args...)(b)
	if err != nil {
		return err
	}
	perOp := 2
	if args[0] == "--profile" {
		perOp = 6
	}
	begun := time.Now()
	err = b.ns.Do(func() error {
		for n := 0; time.Since(begun) < 4*time.Second; n++ {
			if err := op(); err != nil {
				return err
			}
			if rate == 0 {
				continue
			}
			if ahead := time.Duration(n*perOp)*time.Second/time.Duration(rate) - time.Since(begun); ahead > time.Millisecond {
				time.Sleep(ahead)
			}
		}
		return nil
	})
	took := time.Since(begun)
	ended, stopErr := stop()
	if err := errors.Join(err, stopErr); err != nil {
		return err
	}
	asked := "no pause"
	if rate > 0 {
		asked = fmt.Sprintf("%d", rate)
	}
	fmt.Printf("| %s | %s | %.0f | %.2f %% | %.0f ns |\n", args[1], asked, float64(ended.events)/took.Seconds(),
		100*float64(ended.lost)/float64(ended.events), u.cpu())
	return nil
}
