"""Turns beside what others measure: nginx's $request_time, redis-benchmark and wrk.

    beside.py NETREC [PAGE]

Makes a network namespace of its own, records each load there, and prints what the others said
beside netrec's turns; PAGE is the page of the documentation to write. Needs root, nginx, wrk,
redis-server and redis-benchmark, and takes half a minute. It fails where a number of turns is not that of
the requests, or where a length differs by more than the text of the page says.
"""

import csv
import http.client
import http.server
import io
import os
import platform
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

NETREC = os.path.abspath(sys.argv[1])
PLACE = os.path.abspath(sys.argv[2]) if sys.argv[2:] else ""
NAME = f"beside{os.getpid()}"
INSIDE = ["ip", "netns", "exec", NAME]
FRONT, UPSTREAM, REDIS = 18080, 18081, 16379

NGINX = """daemon off; worker_processes 1; pid nginx.pid; error_log error.log;
events { worker_connections 512; }
http {
  log_format t '$connection $connection_requests $request_time';
  access_log access.log t;
  keepalive_requests 10000000;
  client_body_temp_path b; proxy_temp_path p; fastcgi_temp_path f; uwsgi_temp_path u; scgi_temp_path s;
  upstream slow { server 127.0.0.1:18081; keepalive 16; }
  server {
    listen 127.0.0.1:18080;
    location / { access_log off; return 200 "hello"; }
    location /slow/ { proxy_pass http://slow; proxy_http_version 1.1; proxy_set_header Connection ""; }
  }
}
"""


class Slow(http.server.BaseHTTPRequestHandler):
    """Sleeps for the milliseconds that the path names, then answers."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        time.sleep(int(self.path.rsplit("/", 1)[1]) / 1000)
        self.send_response(200)
        self.send_header("Content-Length", "5")
        self.end_headers()
        self.wfile.write(b"hello")

    def log_message(self, *_):
        pass


def slow_requests(connections=8, each=100):
    """Requests that take 0 to 60 ms, over connections that are kept."""

    def ask(seed):
        rand, c = random.Random(seed), http.client.HTTPConnection("127.0.0.1", FRONT)
        for _ in range(each):
            c.request("GET", f"/slow/{rand.randrange(60)}")
            c.getresponse().read()
        c.close()

    threads = [threading.Thread(target=ask, args=(i,)) for i in range(connections)]
    for t in threads:
        t.start()
        time.sleep(0.05)  # connections begin in an order that both logs have
    for t in threads:
        t.join()


def recorded(load):
    """What load returns, and the recording of it."""
    path = tempfile.mktemp(".parquet", "turns", os.getcwd())
    rec = subprocess.Popen([NETREC, "record", "--netns", NAME, "--buffer", "256M", "-t", "60s", "-o", path, "--ready-file", path + ".ready"],
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    while not os.path.exists(path + ".ready"):
        if rec.poll() is not None:
            sys.exit(rec.stdout.read())
        time.sleep(0.05)
    said = load()
    time.sleep(0.3)
    rec.send_signal(signal.SIGINT)
    words = rec.communicate(timeout=30)[0]
    if "lost: none" not in words:
        sys.exit("rows were lost, nothing can be said:\n" + words)
    return said, path


def analyze(path, table, *args):
    out = subprocess.run([NETREC, "analyze", path, "waits", "-f", "csv", "--table", table, *args], capture_output=True, text=True, check=True).stdout
    return list(csv.DictReader(io.StringIO(out)))


def line(path, service):
    return next(r for r in analyze(path, "waits") if r["service"] == service)


def lengths(path, service):
    """Microseconds of all whole turns."""
    return sorted(round(float(r["turn_ms"]) * 1000) for r in analyze(path, "slowest", "--slowest", "2000000") if r["service"] == service and r["unfinished"] == "0")


def run(*command):
    return subprocess.run(INSIDE + list(command), capture_output=True, text=True, check=True, timeout=60).stdout


def beside_nginx():
    """A line of the log for each turn of the server, in the order of each connection."""
    _, path = recorded(slow_requests_inside)
    log, turns = {}, {}
    for text in open("access.log"):
        connection, nth, took = text.split()
        log.setdefault(int(connection), []).append((int(nth), float(took) * 1000))
    for r in analyze(path, "slowest", "--slowest", "100000"):
        if r["service"] == f":{FRONT}":
            turns.setdefault(r["next"].split()[1], []).append((float(r["start_s"]), float(r["turn_ms"]), int(r["app_not_reading_ns"]) / 1e6))
    ours, theirs = sorted(sorted(t) for t in turns.values()), [sorted(log[c]) for c in sorted(log)]
    if [len(t) for t in ours] != [len(t) for t in theirs]:
        sys.exit(f"turns {[len(t) for t in ours]}, requests {[len(t) for t in theirs]}")
    return [(t[1], t[1] - t[2], l[1]) for mine, other in zip(ours, theirs) for t, l in zip(mine, other)]


def slow_requests_inside():
    subprocess.run(INSIDE + [sys.executable, __file__, NETREC, "--ask"], check=True, timeout=60)


def beside_redis():
    said, path = recorded(lambda: run("redis-benchmark", "-p", str(REDIS), "-n", "30000", "-c", "8", "-t", "set", "--csv"))
    theirs = next(csv.DictReader(io.StringIO(said)))
    return theirs, line(path, f"127.0.0.1:{REDIS}")


def corrected(values, interval):
    """What wrk does to its histogram: a stall stands also for the requests that it kept from being sent."""
    counts = {}
    for v in values:
        counts[v] = counts.get(v, 0) + 1
    for n in range(interval * 2, max(counts) + 1):
        count, m = counts.get(n, 0), n - interval
        while count and m > interval:
            counts[m] = counts.get(m, 0) + count
            m -= interval
    return [v for v in sorted(counts) for _ in range(counts[v])]


def at(values, share):
    return values[min(len(values) - 1, int(len(values) * share / 100 + 0.5) - 1)] / 1000


def beside_wrk():
    said, path = recorded(lambda: run("wrk", "-t1", "-c4", "-d1s", "--latency", f"http://127.0.0.1:{FRONT}/"))
    done, seconds = re.search(r"(\d+) requests in ([\d.]+)s", said).groups()
    unit = {"us": 0.001, "ms": 1, "s": 1000}
    theirs = {int(p): float(v) * unit[u] for p, v, u in re.findall(r"(\d+)%\s+([\d.]+)(us|ms|s)", said)}
    mine, got = line(path, f"127.0.0.1:{FRONT}"), lengths(path, f"127.0.0.1:{FRONT}")
    fixed = corrected(got, max(1, int(float(seconds) * 1e6 / (int(done) / 4))))
    return int(done), theirs, mine, got, fixed


def main():
    subprocess.run(["ip", "netns", "add", NAME], check=True)
    started = []
    try:
        subprocess.run(["ip", "-n", NAME, "link", "set", "lo", "up"], check=True)
        open("nginx.conf", "w").write(NGINX)
        for command in (["nginx", "-p", os.getcwd(), "-c", "nginx.conf"], ["redis-server", "--port", str(REDIS), "--save", "", "--appendonly", "no"],
                        [sys.executable, __file__, NETREC, "--serve"]):
            started.append(subprocess.Popen(INSIDE + command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        time.sleep(1.5)
        report(beside_nginx(), beside_redis(), beside_wrk())
    finally:
        for p in started:
            p.terminate()
            p.wait()
        subprocess.run(["ip", "netns", "del", NAME], check=True)


PAGE = """# Turns beside what others measure

Written by `testdata/waits/beside.py` on {date}, Linux {kernel}, {cpus} CPUs that others used too: netrec records a load in a network
namespace, and its turns are compared with what the server's log or the load generator says. `waits` needs no payload for it.
`TestTurnsOfALog` compares 100,037 turns one by one with the log of both ends in every run of the tests.

## nginx: `$request_time`

{requests} requests of 0 to 60 ms through a proxy, over 8 connections that are kept. Each has its turn, at the server.

| | together | a turn and its line in the log: least | median | most |
|---|--:|--:|--:|--:|
| the log | {log:,.0f} ms | | | |
| turns | {turns:,.0f} ms | {low:+.1f} ms | {half:+.1f} ms | {high:+.1f} ms |
| without `app not reading` | {read:,.0f} ms | {read_low:+.1f} ms | {read_half:+.1f} ms | {read_high:+.1f} ms |

The log has milliseconds, taken from a clock that nginx reads once per round of its loop. It begins when nginx reads the request, a turn when the
request arrives: `app not reading` is the time between, and without it both are the same within these milliseconds.

## redis-benchmark

{redis_n} requests over 8 connections: {redis_turns} turns at the client, one of them the benchmark's own question about the configuration.

| ms | p50 | p99 | max |
|---|--:|--:|--:|
| redis-benchmark | {r50} | {r99} | {rmax} |
| `waits` | {m50} | {m99} | {mmax} |

The benchmark takes the time before it writes and after epoll woke it, in its own process. Quantiles of `waits` are up to 2 % low.

## wrk

{wrk_n:,} requests over 4 connections, {wrk_turns} turns at the client, {wrk_open} of them unfinished when wrk hung up.

| ms | p50 | p75 | p90 | p99 |
|---|--:|--:|--:|--:|
| wrk | {w50:.3f} | {w75:.3f} | {w90:.3f} | {w99:.3f} |
| turns | {t50:.3f} | {t75:.3f} | {t90:.3f} | {t99:.3f} |
| turns, corrected as wrk does | {c50:.3f} | {c75:.3f} | {c90:.3f} | {c99:.3f} |

wrk adds to its histogram the requests that a stall kept it from sending ("coordinated omission"). With the same sum over netrec's turns
the two agree; without it, turns are what happened.
"""


def report(nginx, redis, wrk):
    pairs, (bench, mine), (done, said, line_of, got, fixed) = nginx, redis, wrk
    off, read = sorted(t - l for t, _, l in pairs), sorted(r - l for _, r, l in pairs)
    if int(mine["turns"]) != 30001 or int(line_of["turns"]) - int(line_of["unfinished"]) != done or read[0] < -3 or read[-1] > 3:
        sys.exit(f"not as the others say: {mine} {line_of} for {done} requests, nginx {read[0]} to {read[-1]} ms off")
    words = {"date": time.strftime("%Y-%m-%d"), "kernel": re.match(r"[\d.]+", platform.release()).group(), "cpus": os.cpu_count(),
             "requests": len(pairs), "log": sum(l for _, _, l in pairs), "turns": sum(t for t, _, _ in pairs), "read": sum(r for _, r, _ in pairs),
             "low": off[0], "half": off[len(off) // 2], "high": off[-1], "read_low": read[0], "read_half": read[len(read) // 2], "read_high": read[-1],
             "redis_n": "30,000", "redis_turns": f"{int(mine['turns']):,}", "r50": bench["p50_latency_ms"], "r99": bench["p99_latency_ms"], "rmax": bench["max_latency_ms"],
             "m50": mine["p50_ms"], "m99": mine["p99_ms"], "mmax": mine["max_ms"], "wrk_n": done, "wrk_turns": f"{int(line_of['turns']):,}", "wrk_open": line_of["unfinished"]}
    for p in (50, 75, 90, 99):
        words |= {f"w{p}": said[p], f"t{p}": at(got, p), f"c{p}": at(fixed, p)}
    print(PAGE.format(**words))
    if PLACE:
        open(PLACE, "w").write(PAGE.format(**words))


if sys.argv[2:] == ["--serve"]:
    http.server.ThreadingHTTPServer(("127.0.0.1", UPSTREAM), Slow).serve_forever()
elif sys.argv[2:] == ["--ask"]:
    slow_requests()
else:
    __file__ = os.path.abspath(__file__)
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        os.chdir(folder)
        main()
