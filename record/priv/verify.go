package priv

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// expectation is what every thread must look like after Drop.
type expectation struct {
	id       Identity
	caps     capSet
	bounding bool // the bounding set must be empty
}

// A thread that is about to end is out of the runtime's reach but still in /proc; it
// must be gone within this time.
const (
	verifyTries = 100
	verifyPause = 5 * time.Millisecond
)

// verify reads back every thread from the kernel.
func verify(want expectation) (err error) {
	for range verifyTries {
		if err = verifyOnce(want); err == nil {
			return nil
		}
		time.Sleep(verifyPause)
	}
	return err
}

func verifyOnce(want expectation) error {
	const dir = "/proc/self/task"
	tasks, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("list own threads: %w", err)
	}
	seen := 0
	for _, t := range tasks {
		status, err := readStatus(dir + "/" + t.Name() + "/status")
		if os.IsNotExist(err) {
			continue // the thread has ended
		}
		if err != nil {
			return fmt.Errorf("thread %s: %w", t.Name(), err)
		}
		if err := want.check(status); err != nil {
			return fmt.Errorf("thread %s: %w", t.Name(), err)
		}
		seen++
	}
	if seen == 0 {
		return fmt.Errorf("%s shows no threads", dir)
	}
	return nil
}

func readStatus(path string) (map[string]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m := map[string]string{}
	s := bufio.NewScanner(f)
	for s.Scan() {
		if key, value, ok := strings.Cut(s.Text(), ":"); ok {
			m[key] = strings.TrimSpace(value)
		}
	}
	return m, s.Err()
}

func (want expectation) check(status map[string]string) error {
	for key, id := range map[string]int{"Uid": want.id.UID, "Gid": want.id.GID} {
		fields := strings.Fields(status[key])
		if len(fields) != 4 {
			return fmt.Errorf("%s %q: not four ids", key, status[key])
		}
		for _, f := range fields {
			if f != strconv.Itoa(id) {
				return fmt.Errorf("%s is %q, wanted %d", key, status[key], id)
			}
		}
	}
	if g := status["Groups"]; g != "" && want.bounding {
		return fmt.Errorf("still in groups %s", g)
	}
	for key, max := range map[string]capSet{"CapInh": 0, "CapPrm": want.caps, "CapEff": want.caps, "CapBnd": 0, "CapAmb": 0} {
		got, err := strconv.ParseUint(status[key], 16, 64)
		if err != nil {
			return fmt.Errorf("%s %q: %w", key, status[key], err)
		}
		if key == "CapBnd" && !want.bounding {
			continue
		}
		if extra := capSet(got) &^ max; extra != 0 {
			return fmt.Errorf("%s has %016x beyond what is kept", key, uint64(extra))
		}
	}
	if status["NoNewPrivs"] != "1" {
		return fmt.Errorf("no_new_privs is %q", status["NoNewPrivs"])
	}
	return nil
}
