package analyze

import (
	"bufio"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/render"
)

// maxPings is how many lines of a log are kept.
const maxPings = 1 << 20

// pingLog is what ping printed about its requests.
type pingLog struct {
	err   error
	path  string
	pings map[pinged][]int64 // us, in their order
	more  agg.Stats          // by how much ping's own figures are higher
}

type pinged struct {
	seq  int64
	addr string
}

// pingLine matches a reply: an address, perhaps after a name, the number and the time.
var pingLine = regexp.MustCompile(`from (?:\S+ \()?([0-9a-fA-F:.]+?)(?:%\w+)?\)?:? icmp_seq=(\d+) .*time=([0-9.]+) ms`)

func newPingLog(path string) *pingLog {
	l := &pingLog{path: path, pings: map[pinged][]int64{}}
	file, err := os.Open(path)
	if err != nil {
		l.err = err
		return l
	}
	defer file.Close()
	s := bufio.NewScanner(file)
	for n := 0; s.Scan() && n < maxPings; n++ {
		m := pingLine.FindStringSubmatch(s.Text())
		if m == nil {
			continue
		}
		seq, _ := strconv.ParseInt(m[2], 10, 64)
		if us, err := strconv.ParseFloat(m[3], 64); err == nil {
			k := pinged{seq, strings.TrimSuffix(m[1], ":")}
			l.pings[k] = append(l.pings[k], int64(us*1000+0.5))
		}
	}
	l.err = s.Err()
	return l
}

// take is what ping said of a reply, microseconds; each line of the log is used once.
func (l *pingLog) take(seq int64, addr string) (int64, bool) {
	k := pinged{seq, addr}
	us := l.pings[k]
	if len(us) == 0 {
		return 0, false
	}
	l.pings[k] = us[1:]
	return us[0], true
}

func (l *pingLog) finish(a *render.Answer) {
	switch {
	case l == nil:
	case l.err != nil:
		a.Note(fmt.Sprintf("no comparison with ping: %v", l.err))
	case l.more.Count > 0:
		a.Note(fmt.Sprintf("ping itself measured %s us more on average, from %s to %s us more", engine.Thousands(l.more.Average()), engine.Thousands(l.more.Min), engine.Thousands(l.more.Max)))
	default:
		a.Note("no line of the ping log matches an echo of this recording")
	}
}
