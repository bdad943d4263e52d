package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"netrec/record"
)

// What people type by habit is done, or answered with the word that netrec has for it.
func TestHabits(t *testing.T) {
	for args, want := range map[string]string{
		"record -w cap.parquet":        "-o FILE",
		"record -i eth0":               "--dev NAME",
		"record --duration 5":          "-t TIME",
		"record --timme 5":             "did you mean --time?",
		"record --nonsense":            "netrec record --help",
		"record -o - --netns nowhere":  "cannot go through a pipe",
		"record -t soon":               "want seconds, or a time such as",
		"analize cap.parquet":          "did you mean analyze?",
		"analyze x.parquet --since 5s": "did you mean --from?",
		"analyze x.parquet --until 5s": "did you mean --to?",
	} {
		var out, errs bytes.Buffer
		if code := run(strings.Fields(args), &out, &errs); code != 1 || !strings.Contains(errs.String(), want) {
			t.Errorf("netrec %s: exit code %d, %s", args, code, &errs)
		}
	}
	var out bytes.Buffer
	if code := run([]string{"--version"}, &out, &out); code != 0 || !strings.Contains(out.String(), version) {
		t.Errorf("--version: exit code %d, %s", code, &out)
	}
}

func TestTimeWords(t *testing.T) {
	for in, want := range map[string]time.Duration{"10": 10 * time.Second, "60s": time.Minute, "1m30s": 90 * time.Second, "200ms": 200 * time.Millisecond} {
		var d time.Duration
		if err := (*span)(&d).Set(in); err != nil || d != want {
			t.Errorf("-t %s: %v, %v", in, d, err)
		}
	}
	for d, want := range map[time.Duration]string{time.Minute: "1m", 90 * time.Second: "1m30s", time.Hour: "1h", 61 * time.Minute: "1h1m", 10 * time.Second: "10s"} {
		if got := short(d); got != want {
			t.Errorf("%v: %s, want %s", d, got, want)
		}
	}
}

// A line when the recording has begun; on a terminal one more, which notices push away.
func TestLive(t *testing.T) {
	var term bytes.Buffer
	l := newLive(&term, &record.Options{For: time.Minute})
	l.terminal = true
	notice := l.writer(&term)
	l.show(record.Status{Path: "cap.parquet"})
	l.show(record.Status{Path: "cap.parquet", Length: time.Second, Rows: 48211, Bytes: 3_400_000, CPU: 0.012})
	notice.Write([]byte("netrec: the disk has not answered for 2s\n"))
	l.show(record.Status{Path: "cap.parquet", Length: 2 * time.Second, Rows: 50211, Lost: 1234, Bytes: 3_500_000, CPU: 0.013})
	l.clear()
	want := "netrec: recording to cap.parquet for 1m, Ctrl-C to stop sooner\n" +
		"\r1s  48,211 events/s  nothing lost  3.4 MB  recorder 1.2 % of CPU\x1b[K" +
		"\r\x1b[Knetrec: the disk has not answered for 2s\n" +
		"\r2s  2,000 events/s  1,234 lost  3.5 MB  recorder 1.3 % of CPU\x1b[K\r\x1b[K"
	if got := term.String(); got != want {
		t.Errorf("terminal:\n%q\nwant:\n%q", got, want)
	}
}

func TestNextCommand(t *testing.T) {
	for _, c := range []struct {
		output, dir string
		sum         record.Summary
		want        string
	}{
		{"cap.parquet", "", record.Summary{Files: 1}, "next: netrec analyze cap.parquet"},
		{"my cap.parquet", "", record.Summary{Files: 1}, `next: netrec analyze "my cap.parquet"`},
		{"cap.parquet", "", record.Summary{Files: 3, Path: "cap-2.parquet"}, `next: netrec analyze "cap*.parquet"`},
		{"", "captures", record.Summary{Files: 3, Path: "captures/dt=1/a.parquet"}, "next: netrec analyze captures"},
		{"", "captures", record.Summary{Files: 1, Path: "captures/dt=1/a.parquet"}, "next: netrec analyze captures/dt=1/a.parquet"},
	} {
		if got := next(&record.Options{Output: c.output}, c.dir, &c.sum); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}
