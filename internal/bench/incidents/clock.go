package incidents

import "time"

// slowFrom is what connects and answers of a healthy load must not take, by the clock of whoever waits for them. It is
// nine tenths of the threshold of the rule that finds them slow. A machine that gives its traffic no CPU
// makes it an incident, and such a finding is right.
var slowFrom = map[string]time.Duration{"slow-answers": 450 * time.Millisecond, "slow-connects": 315 * time.Millisecond}

// took notes how long something took that a rule judges.
func (s *stage) took(rule string, each ...time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clock[rule] = append(s.clock[rule], each...)
}

// confirms reports whether the clock says what a finding of the rule says: three or more, and one in ten, were slow.
func (s *stage) confirms(rule string) bool {
	slow := 0
	for _, d := range s.clock[rule] {
		if d >= slowFrom[rule] {
			slow++
		}
	}
	return slow >= 3 && slow*10 >= len(s.clock[rule])
}
