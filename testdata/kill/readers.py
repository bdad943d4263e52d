"""Opens recordings with stock readers: a path per line in, a line of JSON out."""

import json
import sys

import duckdb
import pyarrow.compute as pc
import pyarrow.parquet as pq


def with_pyarrow(path):
    t = pq.read_table(path, columns=["ts_ns", "event", "ret"])
    calls = t.filter(pc.equal(t["event"], "sock_io"))
    return t.num_rows, pc.max(t["ts_ns"]).as_py(), pc.sum(calls["ret"]).as_py()


def with_duckdb(path):
    return duckdb.execute(
        "select count(*), max(ts_ns), sum(ret) filter (event = 'sock_io') from read_parquet(?)", [path]
    ).fetchone()


def view(reader, path):
    try:
        rows, newest, ret = reader(path)
    except Exception as e:  # whatever it is, the file did not open
        return {"error": f"{type(e).__name__}: {e}"}
    return {"rows": rows, "newest": newest or 0, "ret": int(ret or 0)}


print("ready", flush=True)
for line in sys.stdin:
    path = line.rstrip("\n")
    print(json.dumps({"pyarrow": view(with_pyarrow, path), "duckdb": view(with_duckdb, path)}), flush=True)
