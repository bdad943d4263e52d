package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The recording in the binary is what people without privileges see first.
func TestSampleHasTheDemosAnswers(t *testing.T) {
	file := filepath.Join(t.TempDir(), "sample.parquet")
	if err := os.WriteFile(file, sample, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, a := range demoAnswers {
		args := append([]string{"analyze", "-f", "json", file}, a...)
		var out, errs bytes.Buffer
		if code := run(args, &out, &errs); code != 0 {
			t.Fatalf("netrec %s: exit code %d\n%s", strings.Join(args, " "), code, errs.String())
		}
		var got struct {
			Answers []struct{ Tables []struct{ Rows []any } }
		}
		if err := json.Unmarshal(out.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		rows := 0
		for _, table := range got.Answers[0].Tables {
			rows += len(table.Rows)
		}
		if rows == 0 {
			t.Errorf("analysis %s: the sample has no answer", a[0])
		}
	}
}

// An analysis whose events are not in the file says so, with an exit code of its own.
func TestNotInFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "sample.parquet")
	if err := os.WriteFile(file, sample, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"tcplif"}, 1, "did you mean tcplife?"},
		{[]string{"tcplife"}, 0, ""},
	} {
		var out, errs bytes.Buffer
		if code := run(append([]string{"analyze", file}, c.args...), &out, &errs); code != c.code || !strings.Contains(errs.String(), c.says) {
			t.Errorf("%v: exit code %d, said %q; want %d, %q", c.args, code, errs.String(), c.code, c.says)
		}
	}
	if err := os.WriteFile(file, []byte("PAR1 but no more"), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	if code := run([]string{"analyze", file}, &out, &errs); code != codeUnreadable || errs.Len() == 0 {
		t.Errorf("a file that is no recording: exit code %d, said %q", code, errs.String())
	}
}
