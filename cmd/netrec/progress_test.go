package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"netrec/analyze/engine/eventtext"
	"netrec/analyze/scan"
)

// TestProgress: a scan that takes long is shown, and its line is gone before anything
// else is written and at the end.
func TestProgress(t *testing.T) {
	src, err := eventtext.Parse("", fmt.Sprintf("+1ms skb_alloc skb=0x10 *%d\n+2ms skb_alloc skb=0x10 *%d", 2*progressRows, 2*progressRows))
	if err != nil {
		t.Fatal(err)
	}
	var term bytes.Buffer
	clock := time.Unix(0, 0)
	p := &progress{terminalLine: terminalLine{to: &term}, now: func() time.Time { clock = clock.Add(time.Second); return clock }}
	out := p.writer(&term)
	n := 0
	err = (&watched{src, p}).Scan(scan.Query{}, func(*scan.Row) error {
		if n++; n == 3*progressRows {
			fmt.Fprintln(out, "a row")
		}
		return nil
	})
	got := term.String()
	if err != nil || n != 4*progressRows {
		t.Fatalf("%d rows, %v", n, err)
	}
	if !strings.Contains(got, "32,768 events") || !strings.Contains(got, "\r\x1b[Ka row\n") || !strings.HasSuffix(got, "\r\x1b[K") {
		t.Errorf("terminal: %q", got)
	}
}

func TestProgressOfShortScans(t *testing.T) {
	src, err := eventtext.Parse("", fmt.Sprintf("+1ms skb_alloc skb=0x10 *%d", 2*progressRows))
	if err != nil {
		t.Fatal(err)
	}
	var term bytes.Buffer
	p := &progress{terminalLine: terminalLine{to: &term}, now: func() time.Time { return time.Unix(1, 0) }}
	if err := (&watched{src, p}).Scan(scan.Query{}, func(*scan.Row) error { return nil }); err != nil || term.Len() > 0 {
		t.Errorf("terminal: %q, %v", term.String(), err)
	}
	if _, out, _ := watch(&term, &term); out != &term {
		t.Error("progress is shown on what is no terminal")
	}
}
