package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"netrec/internal/bench/rig"
)

// server is a load of real programs: one that serves, one that asks until its time is up.
type server struct {
	name  string
	needs []string
	serve func(dir string) []string
	ask   func(seconds int) []string
	rate  *regexp.Regexp // what the asking program says it reached
}

const (
	webPort   = "8080"
	redisPort = "6390"
	iperfPort = "5290"
)

var servers = []server{
	{"nginx, a connection per request", []string{"nginx", "wrk"}, serveWeb, func(s int) []string {
		return []string{"wrk", "-t2", "-c20", fmt.Sprintf("-d%ds", s), "-H", "Connection: close", "http://127.0.0.1:" + webPort + "/"}
	}, regexp.MustCompile(`Requests/sec:\s+([\d.]+)`)},
	{"nginx, keep-alive, 20 connections", []string{"nginx", "wrk"}, serveWeb, func(s int) []string {
		return []string{"wrk", "-t2", "-c20", fmt.Sprintf("-d%ds", s), "http://127.0.0.1:" + webPort + "/"}
	}, regexp.MustCompile(`Requests/sec:\s+([\d.]+)`)},
	{"redis GET, 20 clients", []string{"redis-server", "redis-benchmark"}, func(string) []string {
		return []string{"redis-server", "--port", redisPort, "--save", "", "--bind", "127.0.0.1"}
	}, func(s int) []string {
		return []string{"timeout", "-s", "INT", strconv.Itoa(s), "redis-benchmark", "-p", redisPort, "-c", "20", "-t", "get", "-n", "1000000000"}
	}, regexp.MustCompile(`rps=[\d.]+ \(overall: ([\d.]+)\)`)},
	{"iperf3, one stream", []string{"iperf3"}, func(string) []string {
		return []string{"iperf3", "-s", "-p", iperfPort}
	}, func(s int) []string {
		return []string{"iperf3", "-c", "127.0.0.1", "-p", iperfPort, "-t", strconv.Itoa(s), "-f", "m"}
	}, regexp.MustCompile(`([\d.]+) Mbits/sec.*receiver`)},
}

// serveWeb leaves the number of workers to the processors, as Debian's package does.
func serveWeb(dir string) []string {
	conf := "daemon off; worker_processes auto; pid " + dir + "/nginx.pid; error_log /dev/null;\n" +
		"events { worker_connections 4096; }\n" +
		"http { access_log off; keepalive_requests 1000000000; server { listen 127.0.0.1:" + webPort + "; location / { return 200 \"hello, world\\n\"; } } }\n"
	path := filepath.Join(dir, "nginx.conf")
	_ = os.WriteFile(path, []byte(conf), 0o644) // nginx says so if that is missing
	return []string{"nginx", "-c", path, "-p", dir}
}

// watching is a tool beside the load; none is the load alone.
type watching struct {
	name  string
	start func(b *bench) (*watched, error)
}

// watched is a tool that runs.
type watched struct {
	pids     []int
	programs func() ([]rig.Program, error) // nil where it has none
	end      func() (ending, error)
}

// watchers are the tools of one round, in order.
func watchers() []watching {
	out := []watching{{"none", nil}}
	for _, p := range []string{"light", "default", "full"} {
		out = append(out, watching{p, recordWith("", p)})
		if *beside != "" {
			out = append(out, watching{p + " beside", recordWith(*beside, p)})
		}
	}
	for _, p := range []string{"light", "default"} {
		out = append(out, watching{p + " (hooks)", recordWith("", p, "--port", noPort)})
	}
	out = append(out, watching{"perf record", watchPerf}, watching{"perf record (all)", watchPerfAll}, watching{"tcpdump", watchTcpdump})
	if *tools != "" {
		wanted := strings.Split(*tools, ",")
		out = slices.DeleteFunc(out, func(w watching) bool { return !slices.Contains(wanted, w.name) && w.start != nil })
	}
	return out
}

// noPort is a port that no load has. Where only its rows are wanted, what remains is the way to the probes and
// what they ask first: about the least that a recorder of these hooks can cost.
const noPort = "1"

func recordWith(bin, profile string, more ...string) func(b *bench) (*watched, error) {
	return func(b *bench) (*watched, error) {
		if bin == "" {
			bin = b.bin
		}
		b.n++
		path := filepath.Join(b.dir, fmt.Sprintf("%d.parquet", b.n))
		rec, err := b.ns.Record(bin, path, slices.Concat([]string{"--profile", profile}, more, strings.Fields(*args))...)
		if err != nil {
			return nil, err
		}
		return &watched{[]int{rec.Pid()}, rec.Programs, func() (ending, error) {
			defer os.Remove(path)
			_, code, err := rec.End(syscall.SIGINT)
			if err != nil || code != 0 && code != 4 {
				return ending{}, fmt.Errorf("netrec record ended with %d: %v\n%s", code, err, rec.Said())
			}
			return parseSummary(rec.Said()), nil
		}}, nil
	}
}

// Tracepoints of what the profile default records on a kernel without functions to hook: those that it
// takes whole, and those of which it keeps one in sixteen.
const (
	perfPoints = "sock:inet_sock_set_state,sock:sock_send_length,sock:sock_recv_length,sock:sock_rcvqueue_full,sock:sock_exceed_buf_limit,sock:inet_sk_error_report," +
		"skb:kfree_skb,tcp:tcp_probe,tcp:tcp_retransmit_skb,tcp:tcp_retransmit_synack,tcp:tcp_send_reset,tcp:tcp_receive_reset,tcp:tcp_cong_state_set," +
		"syscalls:sys_enter_connect,syscalls:sys_exit_connect,syscalls:sys_enter_socket,syscalls:sys_exit_socket," +
		"syscalls:sys_enter_accept4,syscalls:sys_exit_accept4,syscalls:sys_enter_close,syscalls:sys_exit_close," +
		"syscalls:sys_enter_bind,syscalls:sys_exit_bind,syscalls:sys_enter_listen,syscalls:sys_exit_listen," +
		"syscalls:sys_enter_fcntl,syscalls:sys_exit_fcntl,syscalls:sys_exit_sendmsg,syscalls:sys_exit_recvmsg"
	perfShare = "net:net_dev_queue,net:net_dev_start_xmit,net:net_dev_xmit,net:netif_receive_skb,skb:consume_skb," +
		"irq:softirq_entry,irq:softirq_exit,irq:irq_handler_entry,irq:irq_handler_exit," +
		"syscalls:sys_enter_epoll_ctl,syscalls:sys_exit_epoll_ctl,syscalls:sys_enter_epoll_wait,syscalls:sys_exit_epoll_wait"
)

func watchPerf(b *bench) (*watched, error) {
	path := filepath.Join(b.dir, "perf.data")
	return command(path, samples, "perf", "record", "-a", "-e", perfPoints, "-o", path)
}

// watchPerfAll is perf with every tracepoint of the profile, in the same shares. perf has one period for all of
// its tracepoints, so there are two of them.
func watchPerfAll(b *bench) (*watched, error) {
	whole, err := watchPerf(b)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(b.dir, "share.data")
	share, err := command(path, samples, "perf", "record", "-a", "-c", "16", "-e", perfShare, "-o", path)
	if err != nil {
		_, endErr := whole.end()
		return nil, errors.Join(err, endErr)
	}
	return &watched{append(whole.pids, share.pids...), nil, func() (ending, error) {
		a, err := whole.end()
		c, shareErr := share.end()
		return ending{events: a.events + c.events, bytes: a.bytes + c.bytes}, errors.Join(err, shareErr)
	}}, nil
}

var captured = regexp.MustCompile(`(\d+) packets captured`)

func watchTcpdump(b *bench) (*watched, error) {
	path := filepath.Join(b.dir, "dump.pcap")
	var w *watched
	err := b.ns.Do(func() (err error) {
		w, err = command(path, captured, "tcpdump", "-i", "lo", "-s", "96", "-w", path)
		return err
	})
	return w, err
}

// settling is how long tools of others get to start.
const settling = time.Second

// command starts a tool of others, which says at its end how much it saw.
func command(path string, count *regexp.Regexp, argv ...string) (*watched, error) {
	var said bytes.Buffer
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", argv[0], err)
	}
	time.Sleep(settling)
	return &watched{[]int{cmd.Process.Pid}, nil, func() (ending, error) {
		defer os.Remove(path)
		if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
			return ending{}, fmt.Errorf("end %s: %w\n%s", argv[0], err, said.String())
		}
		_ = cmd.Wait() // interrupted, as told
		m := count.FindSubmatch(said.Bytes())
		if m == nil {
			return ending{}, fmt.Errorf("%s: %s", argv[0], said.String())
		}
		n, _ := strconv.ParseInt(string(m[1]), 10, 64)
		e := ending{events: n}
		if st, err := os.Stat(path); err == nil {
			e.bytes = st.Size()
		}
		return e, nil
	}}, nil
}
