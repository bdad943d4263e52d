package record

import (
	"fmt"
	"os"
)

// enough is how much of a CPU must be idle for the recorder to take its time: what it uses up of
// less than that, others wait for.
const enough = 0.5

// spare watches whether the host leaves the recorder time.
type spare struct {
	short bool
	up    float64 // seconds that the host ran, at the last look
	idle  float64 // seconds that its CPUs were idle, all together
}

// look is for once in a while: the kernel's account is too coarse for moments.
func (s *spare) look() {
	b, err := os.ReadFile("/proc/uptime")
	if err == nil {
		s.note(string(b))
	}
}

// note takes the text of /proc/uptime.
func (s *spare) note(uptime string) {
	up, idle := s.up, s.idle
	if n, _ := fmt.Sscan(uptime, &s.up, &s.idle); n < 2 || s.up <= up {
		return
	}
	s.short = up > 0 && s.idle-idle < enough*(s.up-up)
}
