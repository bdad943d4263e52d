package record

import "fmt"

// Topic is what a notice is about.
type Topic string

// The topics.
const (
	AboutHooks   Topic = "hooks"   // what the recording does not see
	AboutNames   Topic = "names"   // addresses that stay numbers
	AboutFile    Topic = "file"    // files and the disk that they are on
	AboutBudget  Topic = "budget"  // what recording costs
	AboutCommand Topic = "command" // the command that was recorded
	AboutManager Topic = "manager" // the service manager
	AboutHost    Topic = "host"    // what else the host is like
)

// Notice is what the user of a recording should know now.
type Notice struct {
	About Topic
	Text  string // a sentence without its full stop
}

// notice tells the user something.
func (s *session) notice(about Topic, format string, args ...any) {
	if s.opt.Notice != nil {
		s.opt.Notice(Notice{about, fmt.Sprintf(format, args...)})
	}
}

// once reports whether something is to be told for the first time. It is for the loop alone.
func (l *loop) once(what string) bool {
	if l.told[what] {
		return false
	}
	if l.told == nil {
		l.told = map[string]bool{}
	}
	l.told[what] = true
	return true
}
