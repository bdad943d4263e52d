package rig

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/cilium/ebpf"
)

// Program is a BPF program of a recorder. Runs and their time are counted while BPF
// statistics are on.
type Program struct {
	Name  string // as in the object; the kernel itself cuts names
	Runs  int64
	RunNS int64
}

// Kept is what a recorder holds at one moment.
type Kept struct {
	RSS    int64 // bytes of resident memory
	Kernel int64 // bytes of its BPF maps and programs
	Files  int   // open descriptors
}

// Pid is the recorder's process.
func (r *Recorder) Pid() int { return r.cmd.Process.Pid }

// Programs lists the programs of the recorder, each once.
func (r *Recorder) Programs() ([]Program, error) {
	var out []Program
	seen := map[uint64]bool{} // events that share a program have a descriptor each
	err := r.descriptors(func(f map[string]string) error {
		id, err := strconv.ParseUint(f["prog_id"], 10, 32)
		if err != nil || f["run_cnt"] == "" || seen[id] {
			return nil // no program, or a link to one, or known
		}
		seen[id] = true
		p := Program{}
		p.Runs, _ = strconv.ParseInt(f["run_cnt"], 10, 64)
		p.RunNS, _ = strconv.ParseInt(f["run_time_ns"], 10, 64)
		if p.Name, err = programName(ebpf.ProgramID(id)); err != nil {
			return fmt.Errorf("program %d: %w", id, err)
		}
		out = append(out, p)
		return nil
	})
	return out, err
}

// programName is the name of a program's main function, from its BTF.
func programName(id ebpf.ProgramID) (string, error) {
	p, err := ebpf.NewProgramFromID(id)
	if err != nil {
		return "", err
	}
	defer p.Close()
	info, err := p.Info()
	if err != nil {
		return "", err
	}
	funcs, err := info.FuncInfos()
	if err != nil || len(funcs) == 0 {
		return info.Name, err
	}
	return funcs[0].Func.Name, nil
}

// Kept reads what the recorder holds now.
func (r *Recorder) Kept() (k Kept, err error) {
	seen := map[string]bool{} // many descriptors may be of one map
	err = r.descriptors(func(f map[string]string) error {
		k.Files++
		if id := f["prog_id"] + "/" + f["map_id"]; !seen[id] {
			n, _ := strconv.ParseInt(f["memlock"], 10, 64)
			k.Kernel += n
			seen[id] = true
		}
		return nil
	})
	if err != nil {
		return k, err
	}
	statm, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", r.Pid()))
	if err != nil {
		return k, err
	}
	var size, pages int64
	if _, err := fmt.Sscan(string(statm), &size, &pages); err != nil {
		return k, fmt.Errorf("resident memory of the recorder: %w", err)
	}
	k.RSS = pages * int64(os.Getpagesize())
	return k, nil
}

// descriptors gives what the kernel says of each descriptor of the recorder.
func (r *Recorder) descriptors(f func(fields map[string]string) error) error {
	dir := fmt.Sprintf("/proc/%d/fdinfo", r.Pid())
	list, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("descriptors of the recorder: %w", err)
	}
	for _, e := range list {
		file, err := os.Open(filepath.Join(dir, e.Name()))
		if err != nil {
			continue // closed meanwhile
		}
		fields := map[string]string{}
		for sc := bufio.NewScanner(file); sc.Scan(); {
			if name, v, ok := strings.Cut(sc.Text(), ":"); ok {
				fields[name] = strings.TrimSpace(v)
			}
		}
		file.Close()
		if err := f(fields); err != nil {
			return err
		}
	}
	return nil
}
