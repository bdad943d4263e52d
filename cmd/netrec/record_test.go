package main

import (
	"strings"
	"testing"

	"netrec/record"
	"netrec/schema"
)

// A program that the kernel passed over cannot say whether it would have made a row: that loss is a bound,
// at the end of a recording as in every answer.
func TestSummaryLost(t *testing.T) {
	var b strings.Builder
	printSummary(&b, "cap.parquet", &record.Summary{Counts: []schema.Count{
		{Event: "sys_close", CPU: 0, Generated: 5, Recorded: 2, Ring: 3},
		{Event: "sys_close", CPU: -1, Generated: 2, Nested: 2},
	}})
	const want = "lost: sys_close: 5 of 7 (ring full 3, too many calls in flight 0, not written 0, interrupted probe, at most 2)\n"
	if !strings.Contains(b.String(), want) {
		t.Errorf("the summary is\n%swant\n%s", b.String(), want)
	}
}
