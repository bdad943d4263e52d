"""Runs in the guest: the recorder and all tools watch, then the traffic comes.

/host/watch.json lists the tools: name, command, and whether bpftrace is to say by
itself when it has attached (it starts the command after -c then). Outputs go through a
terminal of their own, so that no tool keeps lines to itself, and to /host/out at the end.
"""
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time

OUT = "/tmp/out"
CANARY = "192.0.2.77"  # looked up until all tools have attached, without a packet
# The kernel keeps events in an interrupt from all tools while it runs any tool's program for
# the interrupted task. So tools write their lines on one CPU and packets come on another.
TOOLS_CPU, TRAFFIC_CPU = 1, 0
DEADLINE = 900  # seconds until every tool must have attached


def named(name):
    with open("/proc/self/comm", "w") as f:
        f.write(name)


def sh(command):
    subprocess.run(command, shell=True, check=True)


class Tool:
    """A tool at work, its output copied line by line."""

    def __init__(self, spec):
        self.name, self.ready, self.heading = spec["name"], threading.Event(), spec.get("heading", "")
        master, slave = os.openpty()
        # The kernel must not turn newlines into two characters, nor echo.
        subprocess.run(["stty", "raw", "-echo"], stdin=slave, check=True)
        env = dict(os.environ, BPFTRACE_STRLEN="64", COLUMNS="400")
        self.process = subprocess.Popen(spec["command"], stdin=subprocess.DEVNULL, stdout=slave, stderr=slave, env=env, cwd="/tmp")
        os.close(slave)
        self.reader = threading.Thread(target=self.copy, args=(master,), daemon=True)
        self.reader.start()

    def copy(self, master):
        with open("%s/%s.txt" % (OUT, self.name), "wb", buffering=0) as f:
            while True:
                try:
                    data = os.read(master, 65536)
                except OSError:
                    break  # the tool has gone
                if not data:
                    break
                f.write(data)
                if self.heading and self.heading.encode() in data:
                    self.ready.set()
        os.close(master)

    def attached(self):
        return self.ready.is_set() or os.path.exists("/tmp/attached." + self.name) or self.process.poll() is not None

    def misses(self):
        """How often the kernel did not run the tool's programs, as others were running."""
        n, fdinfo = 0, "/proc/%d/fdinfo" % self.process.pid
        for fd in os.listdir(fdinfo) if os.path.exists(fdinfo) else []:
            with open(os.path.join(fdinfo, fd)) as f:
                n += sum(int(line.split()[1]) for line in f if line.startswith("recursion_misses:"))
        return n

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)

    def wait(self):
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            print("%s did not end" % self.name)
            self.process.kill()
        self.reader.join(10)


def await_all(what, done):
    """Waits until nothing is missing any more; tells the time of each."""
    begun, before, came = time.monotonic(), None, []
    while True:
        missing, passed = done(), time.monotonic() - begun
        came += ["%s %.0f" % (name, passed) for name in before or [] if name not in missing]
        before = missing
        if not missing:
            print("%s after %.1f s: %s" % (what, passed, ", ".join(came)), flush=True)
            return
        if passed > DEADLINE:
            sys.exit("%s: still waiting for %s; came: %s" % (what, ", ".join(missing), ", ".join(came)))
        socket.getaddrinfo(CANARY, None, flags=socket.AI_NUMERICHOST)
        time.sleep(0.2)


def devices():
    """Devices that only the traffic uses: no addresses of IPv6, whose kernel would talk by itself."""
    sh("ip link set lo up; sysctl -q -w net.ipv6.conf.default.disable_ipv6=1")
    for name, net, qdisc in (("sink", "192.0.2", "pfifo_fast"), ("hole", "198.51.100", "netem loss 100%"),
                             ("slow", "203.0.113", "tbf rate 100mbit burst 3000 limit 100000")):
        sh("ip link add %s type dummy && ip link set %s up && ip addr add %s.9/24 dev %s" % (name, name, net, name))
        sh("ip neigh add %s.1 lladdr 02:00:00:00:00:01 dev %s" % (net, name))
        if name != "sink":
            sh("tc qdisc add dev %s root %s" % (name, qdisc))


def record(options):
    # Attaching takes an emulated CPU a minute, and a busy one several.
    recorder = subprocess.Popen(["/host/netrec", "record", "--profile", "full", "--buffer", "128M", "--start-within", "20m",
                                 "--ready-file", "/tmp/ready", "-o", OUT + "/cap.parquet"] + options, stderr=open(OUT + "/netrec.err", "w"), stdout=subprocess.DEVNULL)
    await_all("recorder ready", lambda: [] if os.path.exists("/tmp/ready") or recorder.poll() is not None else ["netrec"])
    return recorder


def main():
    named("driver")
    os.sched_setaffinity(0, {TOOLS_CPU})
    os.makedirs(OUT, exist_ok=True)
    devices()
    sh("ldconfig")  # bpftrace looks libc up in its cache
    with open("/host/watch.json") as f:
        plan = json.load(f)
    # Tools that compile for minutes come one by one, and before the recorder: what it records
    # meanwhile is of no use.
    recorder, tools = None if plan["compile"] else record(plan["record"]), []
    for spec in plan["tools"]:
        tools.append(Tool(spec))
        if plan["compile"]:
            await_all("attached", lambda: [t.name for t in tools if not t.attached()])
    await_all("tools attached", lambda: [t.name for t in tools if not t.attached()])
    recorder = recorder or record(plan["record"])
    time.sleep(2)
    os.sched_setaffinity(0, {TRAFFIC_CPU})
    begun = time.monotonic()
    traffic = subprocess.run(["python3", "/host/traffic.py"])
    print("traffic took %.1f s, exit code %d" % (time.monotonic() - begun, traffic.returncode))
    time.sleep(2)
    with open(OUT + "/misses.txt", "w") as f:
        f.writelines("kept from %s by the kernel: %d\n" % (t.name, t.misses()) for t in tools)
    open("/tmp/over", "w").close()  # bpftrace ends with the command that waits for this
    for t in tools:
        if not os.path.exists("/tmp/attached." + t.name):
            t.stop()
    for t in tools:
        t.wait()
    sh("cp /sys/kernel/tracing/events/skb/kfree_skb/format %s/kfree_skb.format" % OUT)
    recorder.send_signal(signal.SIGINT)
    print("recorder: exit code %d" % recorder.wait())
    with open(OUT + "/netrec.err") as f:
        print(f.read())
    sh("cp -r %s /host/" % OUT)
    sys.exit(traffic.returncode)


main()
