"""Hold what netrec export wrote against the capture, with programs that netrec is not part of.

exports.py arrow OUT CAPTURE     pyarrow reads both; every value of every column is the same
exports.py perfetto OUT CAPTURE  Perfetto's own classes read the trace, DuckDB the capture
"""

import collections
import sys

import duckdb
import pyarrow.ipc
import pyarrow.parquet

ORDER = [("ts_ns", "ascending"), ("cpu", "ascending"), ("seq", "ascending"), ("event", "ascending")]


def arrow(out, capture):
    with pyarrow.ipc.open_stream(out) as stream:
        got = stream.read_all()
    times = got.column("ts_ns").to_pylist()
    assert times == sorted(times), "rows are not in the order of time"
    want = pyarrow.parquet.read_table(capture)
    assert got.num_rows == want.num_rows, (got.num_rows, want.num_rows)
    assert sorted(got.column_names) == sorted(want.column_names)  # their order is not promised
    got, want = got.sort_by(ORDER), want.sort_by(ORDER)
    for name in got.column_names:
        kind = got.schema.field(name).type
        assert kind == want.schema.field(name).type, (name, kind, want.schema.field(name).type)
        assert got.column(name).combine_chunks().equals(want.column(name).combine_chunks()), name
    print(got.num_rows, "rows,", got.num_columns, "columns")


def read_trace(out):
    from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent

    trace = Trace()
    with open(out, "rb") as f:
        trace.ParseFromString(f.read())
    clocks = {c.clock_id: c.timestamp for c in trace.packet[0].clock_snapshot.clocks}
    offset = clocks[1] - clocks[3]
    tracks, slices, instants, counters, stack = {}, [], collections.Counter(), 0, {}
    for packet in trace.packet:
        assert packet.trusted_packet_sequence_id
        if packet.HasField("track_descriptor"):
            d = packet.track_descriptor
            assert d.uuid not in tracks, "a track twice"
            assert not d.parent_uuid or d.parent_uuid in tracks, "a track before its parent"
            tracks[d.uuid] = d
        elif packet.HasField("track_event"):
            e, ts = packet.track_event, packet.timestamp + offset
            assert packet.timestamp_clock_id == 3 and e.track_uuid in tracks
            if e.type == TrackEvent.TYPE_SLICE_BEGIN:
                assert e.name and e.track_uuid not in stack, "a slice inside another"
                stack[e.track_uuid] = (e.name, ts)
            elif e.type == TrackEvent.TYPE_SLICE_END:
                name, begin = stack.pop(e.track_uuid)
                assert begin <= ts
                slices.append((tracks[e.track_uuid], name, begin, ts))
            elif e.type == TrackEvent.TYPE_INSTANT:
                instants[e.name.split()[0]] += 1
            elif e.type == TrackEvent.TYPE_COUNTER:
                assert tracks[e.track_uuid].HasField("counter")
                counters += 1
    assert not stack, "slices without an end"
    return tracks, slices, instants, counters


def perfetto(out, capture):
    tracks, slices, instants, counters = read_trace(out)

    def count(event):
        return duckdb.execute("SELECT count(*) FROM read_parquet(?) WHERE event = ?", [capture, event]).fetchone()[0]

    assert instants["retransmit"] == count("tcp_retrans") + count("tcp_synack_retrans") > 0, instants
    assert instants["drop"] == count("skb_drop") > 0, instants
    assert instants["reset"] == count("tcp_reset") > 0, instants
    # Every state that another one followed is a slice from the one change to the other.
    states = duckdb.execute(
        """SELECT new_state, ts_ns, next FROM (
             SELECT new_state, ts_ns, lead(ts_ns) OVER w AS next, lead(old_state) OVER w AS follows
             FROM read_parquet(?) WHERE event = 'tcp_state' WINDOW w AS (PARTITION BY netns, sock ORDER BY ts_ns, cpu, seq))
           WHERE new_state <> 'CLOSE' AND follows = new_state""",
        [capture],
    ).fetchall()
    have = collections.Counter((name, begin, end) for _, name, begin, end in slices)
    missing = [s for s in states if not have[s]]
    assert len(states) > 50 and not missing, (len(states), missing[:5])
    stalls = [s for s in slices if s[0].name == "data held back"]
    assert stalls and counters
    processes = [t for t in tracks.values() if t.HasField("process")]
    assert processes and all(t.process.pid and t.process.process_name for t in processes)
    print(len(tracks), "tracks,", len(slices), "slices,", sum(instants.values()), "instants")


{"arrow": arrow, "perfetto": perfetto}[sys.argv[1]](*sys.argv[2:])
