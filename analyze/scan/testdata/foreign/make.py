"""Writes the files beside it: the 600 rows of rowAt in fixture_test.go, by other programs.

Needs pyarrow, duckdb and polars. Run in this directory.
"""
import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

EVENTS = ["tcp_rcv_est", "skb_drop", "tcp_rcv_est", "tcp_state"]


def row(i):
    e = EVENTS[i % 4]
    ts = 1_700_000_000_000_000_000 + i * 1000
    est, drop, state = e == "tcp_rcv_est", e == "skb_drop", e == "tcp_state"
    return dict(
        ts_ns=ts, ts=ts // 1000, event=e, cpu=i % 4, seq=i, pid=100 + i % 7, tid=200 + i % 9, comm=f"comm{i % 5}", ctx="softirq",
        netns=4026531840, sock=0xFFFF888000000000 + i % 11 * 0x400, skb=0xFFFF888100000000 + i * 0x100,
        cookie=i << 33 if est else None, snd_cwnd=10 + i % 40 if est else None, srtt_us=-5 + i % 1000 if est and i % 3 else None,
        laddr=f"10.0.0.{i % 3}" if state else None, kstack=f"a;b;f{i % 6}" if drop else None,
        drop_reason="NO_SOCKET" if drop and i % 2 == 0 else None, unknown_column=1.5)


i32, i64, u64, s = pa.int32(), pa.int64(), pa.uint64(), pa.string()
schema = pa.schema([
    ("unknown_column", pa.float64()), ("drop_reason", s), ("kstack", s), ("laddr", s), ("srtt_us", i32), ("snd_cwnd", i32), ("cookie", i64),
    ("skb", u64), ("sock", u64), ("netns", i64), ("ctx", s), ("comm", s), ("tid", i32), ("pid", i32), ("seq", i64), ("cpu", i32),
    ("event", s), ("ts", pa.timestamp("us", "UTC")), ("ts_ns", i64)])
t = pa.Table.from_pylist([row(i) for i in range(600)], schema=schema)
back = t.sort_by([("ts_ns", "descending")])

pq.write_table(t, "pyarrow-v1-snappy.parquet", row_group_size=250)
pq.write_table(t, "pyarrow-v2-zstd.parquet", row_group_size=250, data_page_version="2.0", compression="zstd", data_page_size=512,
               write_batch_size=64, write_page_checksum=True)
pq.write_table(t, "pyarrow-plain.parquet", use_dictionary=False, compression="none", write_statistics=False)
pq.write_table(back, "pyarrow-delta-gzip-unsorted.parquet", use_dictionary=False, compression="gzip", row_group_size=200, column_encoding={
    "ts_ns": "DELTA_BINARY_PACKED", "seq": "DELTA_BINARY_PACKED", "pid": "DELTA_BINARY_PACKED", "sock": "DELTA_BINARY_PACKED",
    "srtt_us": "DELTA_BINARY_PACKED", "comm": "DELTA_BYTE_ARRAY", "kstack": "DELTA_BYTE_ARRAY", "event": "DELTA_LENGTH_BYTE_ARRAY",
    "laddr": "DELTA_LENGTH_BYTE_ARRAY"})
pq.write_table(t, "pyarrow-dictionary-overflow.parquet", dictionary_pagesize_limit=64, data_page_size=256, write_batch_size=32)
duckdb.sql("COPY t TO 'duckdb-v1.parquet' (ROW_GROUP_SIZE 2048)")
duckdb.sql("COPY t TO 'duckdb-v2-zstd.parquet' (PARQUET_VERSION V2, CODEC zstd)")
pl.from_arrow(t).write_parquet("polars.parquet", row_group_size=256)
