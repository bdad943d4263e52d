#!/usr/bin/env python3
"""Time of every analysis beside DuckDB answering the same question from the same file.

usage: speed.py [--rounds N] [--out docs/speed.md] NETREC CAPTURE [NAME ...]

Questions in SQL are those of netrec sql, and further ones in queries.sql. Both programs run from a cold start of their own with
the file in the page cache; the time is the least of the rounds. Where the query says so,
the answers are compared, and a difference ends the run.
"""
import argparse
import concurrent.futures
import json
import multiprocessing
import os
import platform
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
BUCKET = "CREATE MACRO bucket(v) AS CASE WHEN v < 0 THEN -1 WHEN v = 0 THEN 0 ELSE floor(log2(v)) + 1 END"


def questions():
    """The sections of queries.sql: (arguments of netrec, check, SQL)."""
    out, name, check, sql = [], None, None, []
    for line in open(os.path.join(HERE, "queries.sql")):
        if line.startswith("-- @ "):
            if name:
                out.append((name, check, "".join(sql)))
            left, _, right = line[5:].partition("|")
            name, check, sql = left.split(), right.split(), []
        elif name:
            sql.append(line)
    return out + [(name, check, "".join(sql))]


def printed(netrec, capture, name):
    """The query that netrec sql prints."""
    return subprocess.run([netrec, "sql", *name, capture], check=True, capture_output=True, text=True).stdout


def analyses(netrec):
    """Every analysis that needs no argument, as netrec lists them."""
    text = subprocess.run([netrec, "analyze", "--list"], check=True, capture_output=True, text=True).stdout
    return [l.split()[0] for l in text.splitlines() if l.startswith("  ") and l.split()[1] != "ADDR"]


def least(rounds, call):
    best = None
    for _ in range(rounds):
        began = time.perf_counter()
        result = call()
        took = time.perf_counter() - began
        best = took if best is None else min(best, took)
    return best, result


def run_netrec(netrec, capture, args, out):
    """Runs an analysis; gives the peak of its memory in MiB."""
    p = subprocess.Popen([netrec, "analyze", capture, *args, "-f", "json", "-o", out], stderr=subprocess.PIPE)
    _, status, usage = os.wait4(p.pid, 0)
    if os.waitstatus_to_exitcode(status) not in (0, 3):
        sys.exit(f"netrec {' '.join(args)}: {p.stderr.read().decode()}")
    return usage.ru_maxrss / 1024


def apart(call, *args):
    """Calls in a process of its own. A new process begins with its parent's peak of memory,
    so whoever starts netrec must not have read a large answer before."""
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("fork")) as pool:
        return pool.submit(call, *args).result()


def run_duckdb(capture, sql):
    """Runs a query in a process of its own; gives seconds, rows and the sum of the last column."""
    p = subprocess.run([sys.executable, __file__, "--query", capture], input=sql, capture_output=True, text=True)
    if p.returncode:
        sys.exit(f"DuckDB: {p.stderr}\n{sql}")
    return json.loads(p.stdout)


def query(capture):
    """The process of run_duckdb. Importing the library is not part of the time."""
    import duckdb
    sql = sys.stdin.read()
    began = time.perf_counter()
    con = duckdb.connect()
    con.execute(BUCKET)
    con.execute(f"CREATE VIEW capture AS FROM read_parquet('{capture}')")
    rows = con.execute(sql).fetchall()
    took = time.perf_counter() - began
    total = sum(r[-1] for r in rows if isinstance(r[-1], int))
    print(json.dumps({"seconds": took, "rows": len(rows), "sum": total, "version": duckdb.__version__}))


def compare(name, check, answer, theirs):
    """Whether both said the same; None where they are not compared."""
    if not check or check[0] == "~":
        return None
    table, column = check
    with open(answer) as f:
        tables = [t for t in json.load(f)["answers"][0]["tables"] if table == "*" or t["name"] in table.split(",")]
    if column == "rows" and table != "events":
        got, want = sum(len(t["rows"]) for t in tables), theirs["rows"]
    else:
        got, want = sum(r[column] for t in tables for r in t["rows"]), theirs["sum"]
    if got != want:
        sys.exit(f"{' '.join(name)}: netrec says {got}, DuckDB {want}")
    return True


def measure(args, name, check, sql):
    """Seconds of netrec and of DuckDB, memory of netrec, and whether they agree."""
    with tempfile.NamedTemporaryFile() as answer:
        mine, memory = least(args.rounds, lambda: run_netrec(args.netrec, args.capture, name, answer.name))
        if sql is None:
            return mine, None, memory, None
        sql = sql.strip() or printed(args.netrec, args.capture, name)
        theirs = min((run_duckdb(args.capture, sql) for _ in range(args.rounds)), key=lambda r: r["seconds"])
        return mine, theirs["seconds"], memory, compare(name, check, answer.name, theirs)


def everything(args):
    began = time.perf_counter()
    p = subprocess.Popen([args.netrec, "analyze", args.capture, "all", "-o", os.devnull])
    _, status, usage = os.wait4(p.pid, 0)
    if status:
        sys.exit("netrec analyze all: " + str(os.waitstatus_to_exitcode(status)))
    return time.perf_counter() - began, usage.ru_maxrss / 1024


def header(args):
    count = run_duckdb(args.capture, "SELECT count(*) FROM capture")
    cpu = next((l.split(":")[1].strip() for l in open("/proc/cpuinfo") if l.startswith("model name")), platform.machine())
    load = os.getloadavg()[0]
    busy = "" if load < 0.5 else "\nThe machine was not idle: read ratios, and run it again on a quiet one."
    return f"""# How fast the analyses are

<!-- Written by testdata/speed/speed.py; do not edit. -->

Measured by `make speed` on {time.strftime('%Y-%m-%d %H:%M UTC', time.gmtime())}: {cpu}, {os.cpu_count()} CPUs, load average {load:.2f} at the start.{busy}
The file is synthetic (`internal/bench/synth`, seed 1): {count["sum"]:,} events of every type, {os.path.getsize(args.capture) / 1e6:.0f} MB. Times are the least of {args.rounds}
runs, each a process of its own with the file in the page cache; DuckDB {count["version"]} uses all CPUs, netrec one.
DuckDB answers from SQL over the same file: what `netrec sql` prints, and `testdata/speed/queries.sql`. Where the answers can be compared they were,
and agree; elsewhere the query leaves out what netrec does besides, such as owners and lives of reused addresses.
"""


def main():
    if sys.argv[1:2] == ["--query"]:
        return query(sys.argv[2])
    p = argparse.ArgumentParser()
    p.add_argument("netrec")
    p.add_argument("capture")
    p.add_argument("names", nargs="*")
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--out")
    args = p.parse_args()
    lines = [header(args)]
    if not args.names:
        took, memory = everything(args)
        lines.append(f"All analyses in one call: {took:.1f} s, {memory:.0f} MiB of memory at most.\n")
    lines.append("| analysis | netrec | DuckDB | DuckDB / netrec | memory of netrec | answers |\n|---|---:|---:|---:|---:|---|")
    have, asked = analyses(args.netrec), questions()
    todo = [q for q in asked if q[0][0] in have] + [([n], None, None) for n in have if n not in {q[0][0] for q in asked}]
    for name, check, sql in todo:
        if args.names and name[0] not in args.names:
            continue
        mine, theirs, memory, same = apart(measure, args, name, check, sql)
        ratio = f"{theirs / mine:.1f}" if theirs else ""
        told = {None: "" if theirs is None else "not compared", True: "the same"}[same]
        other = f"{theirs:.2f} s" if theirs else "no query"
        lines.append(f"| {' '.join(name)} | {mine:.2f} s | {other} | {ratio} | {memory:.0f} MiB | {told} |")
        print(lines[-1], flush=True)
    text = "\n".join(lines) + "\n"
    if args.out:
        with open(args.out, "w") as f:
            f.write(text)


if __name__ == "__main__":
    main()
