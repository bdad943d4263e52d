package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"netrec/analyze/sql"
	"netrec/internal/bench/synth"
)

// sqlTables are the tables of an analysis that its query stands for. Where there are
// several, the column part of the query tells them apart.
var sqlTables = map[string]string{
	"acceptcount": "calls", "conncount": "calls", "connfails": "failed", "connstacks": "calls", "eventrates": "rates", "filetype": "calls",
	"gethostlatency": "lookups", "hardirqs": "interrupts", "netsize": "nic_recv_bytes nic_send_bytes recv_bytes send_bytes",
	"nettxlat": "us local_us dropped_us", "overview": "events", "profile": "stacks", "qdisclat": "us",
	"retranshosts": "retransmits", "rxcpus": "cpus", "skbdrop": "stacks reasons", "skblife": "skb_residency_nsecs",
	"so1stbyte": "us", "soaccept": "accepts", "sockbytes": "bytes", "sockcalls": "calls", "socksize": "read_bytes write_bytes",
	"soconnect": "connects", "soconnlat": "us failed_us", "sofamily": "accept connect", "solisten": "listens", "sormem": "rmem_alloc rmem_arrival rmem_limit",
	"tcpaccept": "accepts", "tcpaccept-tp": "sessions", "tcpacceptcount": "accepts", "tcpbind": "binds", "tcpcalls": "calls",
	"tcpconncount": "connects", "tcpconnect": "connects", "tcpconnect-tp": "sessions", "tcplife": "sessions", "tcprecvsize": "recv_bytes",
	"tcpretrans": "retransmits", "tcpsendsize": "send_bytes", "tcpstates": "changes", "tcptop": "top", "tcpwin": "rows",
	"txstacks": "stacks", "udpcalls": "calls",
	"udplife": "sessions", "udprecvsize": "recv_bytes", "udpsendsize": "send_bytes",
	"waits": "waits",
}

// oddAnswers are the analyses that make sense of rows with values at and beyond the edges.
var oddAnswers = []string{"overview", "socksize", "sockbytes", "sockcalls"}

// TestAnswersAgree compares answers with what databases say to the SQL of netrec sql: of
// single files, and of a folder with those of several hosts. The files are a real recording
// (of this machine where it may record), the sample in the binary, a synthetic one that has
// every event, one of odd values, and two of sockets that are connected again and again.
func TestAnswersAgree(t *testing.T) {
	needPython(t)
	folder := t.TempDir()
	hosts := map[string]string{"web1": recordReal(t), "web2": filepath.Join(folder, "sample.parquet"), "db1": filepath.Join(folder, "synth.parquet")}
	must(t, os.WriteFile(hosts["web2"], sample, 0o600))
	_, err := synth.Write(hosts["db1"], synth.Options{Rows: 20_000, Seed: 5})
	must(t, err)
	for host, file := range hosts {
		hosts[host] = hive(t, folder, host, file)
	}
	var single, all []sqlCall
	odd := writeOddCapture(t).finished
	for _, name := range oddAnswers {
		single = append(single, sqlCall{name, odd, map[string][]answerRow{"": answers(t, odd, name)}})
	}
	for _, function := range []bool{true, false} {
		file := writeReconnects(t, function)
		for _, name := range reconnectAnswers {
			single = append(single, sqlCall{name, file, map[string][]answerRow{"": answers(t, file, name)}})
		}
	}
	single = append(single, sqlCall{"tcplife", writeLost(t), map[string][]answerRow{"": nil}})
	for _, name := range sql.Names() {
		byHost := map[string][]answerRow{}
		for host, file := range hosts {
			byHost[host] = answers(t, file, name)
		}
		all = append(all, sqlCall{name, folder, byHost}, sqlCall{name, hosts["web2"], map[string][]answerRow{"": byHost["web2"]}})
	}
	for _, dialect := range sql.Dialects() {
		t.Run(dialect, func(t *testing.T) {
			agree(t, dialect, asked(t, dialect, slices.Concat(single, all)))
		})
	}
}

// sparkPart bounds the time that Spark takes: more than a second for each query.
var sparkPart = flag.Int("spark", 5, "ask Spark one of so many queries, chosen at random; 1 asks all")

// asked are the queries for a database.
func asked(t *testing.T, dialect string, calls []sqlCall) (chosen []sqlCall) {
	if dialect != "spark" || *sparkPart == 1 {
		return calls
	}
	var names []string
	for _, c := range calls {
		if rand.IntN(*sparkPart) == 0 {
			chosen, names = append(chosen, c), append(names, c.name)
		}
	}
	t.Logf("asked for %d of %d queries: %s", len(chosen), len(calls), strings.Join(names, " "))
	return chosen
}

// sqlCall is a query and what must be its answer, by host.
type sqlCall struct {
	name, path string
	want       map[string][]answerRow
}

// answerRow is a row of one of an analysis's tables.
type answerRow struct {
	table string
	cells map[string]any
}

// hive puts a file where one of a host belongs, and returns its path.
func hive(t *testing.T, folder, host, file string) string {
	t.Helper()
	path := filepath.Join(folder, "dt=2026-11-15", "host="+host, "cap.parquet")
	must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must(t, os.Rename(file, path))
	return path
}

// agree asks a database all queries and compares what it says.
func agree(t *testing.T, dialect string, calls []sqlCall) {
	queries := make([]string, len(calls))
	for i, c := range calls {
		var out, errs bytes.Buffer
		if code := run([]string{"sql", c.name, c.path, "--dialect", dialect}, &out, &errs); code != 0 {
			t.Fatalf("netrec sql %s: %s", c.name, errs.String())
		}
		queries[i] = out.String()
	}
	in, err := json.Marshal(queries)
	must(t, err)
	cmd := exec.Command(os.Getenv("NETREC_PYTHON"), "-B", interopDir+"ask.py", dialect)
	var errs bytes.Buffer
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, errs.String())
	}
	for dec, i := json.NewDecoder(bytes.NewReader(out)), 0; i < len(calls); i++ {
		var got struct {
			Error   string
			Columns []string
			Rows    [][]*string
		}
		must(t, dec.Decode(&got))
		t.Run(calls[i].name+"/"+filepath.Base(calls[i].path), func(t *testing.T) {
			if got.Error != "" {
				t.Fatalf("%s\n%s", got.Error, queries[i])
			}
			calls[i].compare(t, table{got.Columns, got.Rows})
		})
	}
}

// compare holds an answer in SQL against netrec's: the same rows in every column that the
// query has.
func (c sqlCall) compare(t *testing.T, got table) {
	host, part := slices.Index(got.columns, "on_host"), slices.Index(got.columns, "part")
	if several := len(c.want) > 1; several != (host >= 0) || several && len(got.rows) == 0 {
		t.Fatalf("%d rows of columns %q over hosts %q", len(got.rows), got.columns, slices.Sorted(maps.Keys(c.want)))
	}
	said := map[string]int{}
	for _, row := range got.rows {
		said[key(got, row, host, part)]++
	}
	tables := strings.Fields(sqlTables[c.name])
	var left []string
	for on, rows := range c.want {
		for _, r := range rows {
			if !slices.Contains(tables, r.table) {
				continue
			}
			if k := r.key(t, on, got.columns, part >= 0); said[k] > 0 {
				said[k]--
			} else {
				left = append(left, k)
			}
		}
	}
	more := slices.DeleteFunc(slices.Sorted(maps.Keys(said)), func(k string) bool { return said[k] == 0 })
	left, more = learnt(left, more)
	for i := range min(len(left), 5) {
		t.Errorf("only netrec says %s", left[i])
	}
	for i := range min(len(more), 5) {
		t.Errorf("only SQL says %s", more[i])
	}
}

// unlearnt are cells of lines that netrec writes before it knows the socket's ends and owner:
// it waits for a second. SQL sees the whole recording at once.
var unlearnt = regexp.MustCompile(`(pid|comm|laddr|lport|saddr)="[^"]*" `)

// learnt takes out rows that are the same but for what netrec could not wait for.
func learnt(left, more []string) (l, m []string) {
	for _, k := range left {
		same := func(o string) bool { return unlearnt.ReplaceAllString(o, "") == unlearnt.ReplaceAllString(k, "") }
		if i := slices.IndexFunc(more, same); i >= 0 && (strings.Contains(k, `lport="0"`) || !strings.Contains(k, "pid=")) {
			more = slices.Delete(more, i, i+1)
		} else {
			l = append(l, k)
		}
	}
	return l, more
}

// key is a row as text.
func key(got table, row []*string, host, part int) string {
	var b strings.Builder
	for i, name := range got.columns {
		if i == part || i == host || row[i] != nil {
			fmt.Fprintf(&b, "%s=%s ", name, decimals(show(row[i])))
		}
	}
	return b.String()
}

// trailing are zeros that databases leave out, and netrec does not.
var trailing = regexp.MustCompile(`^("-?\d+)(?:\.0+|(\.\d*[1-9])0+)"$`)

func decimals(quoted string) string { return trailing.ReplaceAllString(quoted, `$1$2"`) }

// key is the row as text in the columns that SQL has.
func (r answerRow) key(t *testing.T, host string, columns []string, parts bool) string {
	t.Helper()
	var b strings.Builder
	for _, name := range columns {
		v, known := r.cells[name]
		switch name {
		case "on_host":
			v, known = host, true
		case "part":
			v, known = r.table, true
		}
		if !known && !parts {
			t.Fatalf("netrec has no column %s", name)
		}
		if v != nil {
			fmt.Fprintf(&b, "%s=%s ", name, decimals(strconv.Quote(fmt.Sprint(v))))
		}
	}
	return b.String()
}

// recordReal makes a recording the way a user does who tries netrec.
func recordReal(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	binary, file := filepath.Join(dir, "netrec"), filepath.Join(dir, "demo.parquet")
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	out, err := exec.Command(binary, "demo", "-o", file).CombinedOutput()
	if err != nil {
		t.Fatalf("demo: %v\n%s", err, out)
	}
	t.Logf("%s", bytes.SplitN(out, []byte("\n\n"), 2)[0])
	return file
}

// answers are all rows of an analysis. Those that count nothing are left out, since SQL
// does not know them.
func answers(t *testing.T, file, name string) []answerRow {
	t.Helper()
	var out, errs bytes.Buffer
	if code := run([]string{"analyze", file, name, "-f", "json"}, &out, &errs); code != 0 && code != codeNotInFile {
		t.Fatalf("%s: exit code %d: %s", name, code, errs.String())
	}
	var doc struct {
		Answers []struct {
			Tables []struct {
				Name string
				Rows []map[string]any
			}
		}
	}
	dec := json.NewDecoder(&out)
	dec.UseNumber()
	must(t, dec.Decode(&doc))
	rows := []answerRow{}
	for _, tab := range doc.Answers[0].Tables {
		for _, row := range tab.Rows {
			if row["count"] != json.Number("0") && row["rows"] != json.Number("0") && row["turns"] != json.Number("0") {
				rows = append(rows, answerRow{tab.Name, row})
			}
		}
	}
	return rows
}
