package record

import (
	"runtime"
	"sync"
	"testing"
	"time"
)

func TestSpare(t *testing.T) {
	for name, c := range map[string]struct {
		looks []string
		short bool
	}{
		"once":                   {[]string{"100.00 50.00"}, false},
		"a CPU idle":             {[]string{"100.00 50.00", "101.00 51.00"}, false},
		"a third of one":         {[]string{"100.00 50.00", "103.00 51.00"}, true},
		"idle again":             {[]string{"100.00 50.00", "101.00 50.00", "102.00 51.90"}, false},
		"no time between":        {[]string{"100.00 50.00", "101.00 50.00", "101.00 50.00"}, true},
		"of another kernel":      {[]string{"100.00 50.00", "101.00 50.00", "busy"}, true},
		"a clock that was reset": {[]string{"100.00 50.00", "1.00 50.00"}, false},
	} {
		var s spare
		for _, l := range c.looks {
			s.note(l + "\n")
		}
		if s.short != c.short {
			t.Errorf("%s: short of time: %v", name, s.short)
		}
	}
}

// The kernel's own account of a host whose CPUs are all busy.
func TestSpareBusy(t *testing.T) {
	var s spare
	s.look()
	var wg sync.WaitGroup
	end := time.Now().Add(time.Second)
	for range runtime.NumCPU() {
		wg.Go(func() {
			for time.Now().Before(end) {
			}
		})
	}
	wg.Wait()
	if s.look(); !s.short {
		t.Errorf("all CPUs were busy for a second, and the host has time: %+v", s)
	}
}
