package traffic

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Scan is one scan that a program asked a Wi-Fi radio for.
type Scan struct {
	Device string `json:"device"`
	// PID is the program's; Begin and End are its, not the scan's.
	PID     int      `json:"pid"`
	SSIDs   []string `json:"ssids"`
	Freqs   []int    `json:"freqs"`
	Flush   bool     `json:"flush"`
	Aborted bool     `json:"aborted"`
	Begin   int64    `json:"begin"`
	End     int64    `json:"end"`
}

// radios is how many simulated radios there are, so that two can scan at once.
const radios = 2

// LoadRadios makes simulated radios, before a recorder looks for the functions of Wi-Fi.
func LoadRadios() {
	_ = command("modprobe", "mac80211_hwsim", fmt.Sprintf("radios=%d", radios)) // this kernel may have none
}

// scans has all radios scan at the same time, and give up at last. They stay in the namespace
// of the process, from which other threads than this one start programs.
func (w *worker) scans() {
	devs := simulated()
	if len(devs) != radios {
		return // no radios that are ours
	}
	for _, dev := range devs {
		w.elsewhere(func() error { return command("ip", "link", "set", dev, "up") })
	}
	for range w.want["scans"] {
		first := Scan{Device: devs[0], SSIDs: []string{"netrec-a"}, Freqs: []int{2412, 2437, 2462}, Flush: true}
		second := Scan{Device: devs[1], SSIDs: []string{"netrec-b", "netrec-c"}, Freqs: []int{2412, 2422, 2432, 2442, 2452}}
		w.scan(&first, &second)
	}
	for _, dev := range devs {
		w.giveUp(dev)
	}
}

// simulated lists the devices of simulated radios in the namespace of the process.
func simulated() []string {
	var devs []string
	dirs, _ := filepath.Glob("/sys/class/ieee80211/*/device/net/*")
	for _, d := range dirs {
		if driver, err := filepath.EvalSymlinks(filepath.Join(d, "device/driver")); err == nil && filepath.Base(driver) == "mac80211_hwsim" {
			devs = append(devs, filepath.Base(d))
		}
	}
	return devs
}

// elsewhere runs something that starts a program on a thread that never left the
// namespace of the process.
func (w *worker) elsewhere(f func() error) {
	done := make(chan error)
	go func() { done <- f() }()
	if err := <-done; err != nil {
		w.fail("%w", err)
	}
}

// args is a scan as iw wants it: started, not waited for. Waiting, iw takes the end of
// another radio's scan for its own, and may then ask for its socket's errors forever.
func (s *Scan) args() []string {
	args := []string{"dev", s.Device, "scan", "trigger", "freq"}
	for _, f := range s.Freqs {
		args = append(args, strconv.Itoa(f))
	}
	if s.Flush {
		args = append(args, "flush")
	}
	return append(append(args, "ssid"), s.SSIDs...)
}

// errBusy is how iw says that the radio is scanning already.
const errBusy = "(-16)"

// run starts iw until the radio takes the scan.
func (s *Scan) run() error {
	deadline := time.Now().Add(patience)
	for {
		cmd := exec.Command("iw", s.args()...)
		var out strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &out
		s.Begin = now()
		err := cmd.Run()
		s.End = now()
		if err == nil {
			s.PID = cmd.Process.Pid
			return nil
		}
		if !strings.Contains(out.String(), errBusy) || time.Now().After(deadline) {
			return fmt.Errorf("running %s: %w: %s", strings.Join(cmd.Args, " "), err, out.String())
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// scan runs scans side by side.
func (w *worker) scan(all ...*Scan) {
	w.elsewhere(func() error {
		errs := make([]error, len(all))
		var wg sync.WaitGroup
		for i, s := range all {
			wg.Go(func() { errs[i] = s.run() })
		}
		wg.Wait()
		return errors.Join(errs...)
	})
	for _, s := range all {
		w.log.Scans = append(w.log.Scans, *s)
	}
}

// giveUp starts a scan of many channels and stops it, then waits until the radio has
// nothing left to stop.
func (w *worker) giveUp(dev string) {
	s := Scan{Device: dev, SSIDs: []string{"netrec-d"}}
	for f := 2412; f <= 2472; f += 5 {
		s.Freqs = append(s.Freqs, f)
	}
	// Where a radio may only listen, it stays longer: no slow machine is late to stop it.
	for f := 5180; f <= 5320; f += 20 {
		s.Freqs = append(s.Freqs, f)
	}
	abort := func() error { return command("iw", "dev", dev, "scan", "abort") }
	w.elsewhere(func() error {
		if err := s.run(); err != nil {
			return err
		}
		s.Aborted = abort() == nil // unless it was done before
		for deadline := time.Now().Add(patience); abort() == nil; {
			if time.Now().After(deadline) {
				return fmt.Errorf("radio of %s does not stop", dev)
			}
		}
		return nil
	})
	w.log.Scans = append(w.log.Scans, s)
}
