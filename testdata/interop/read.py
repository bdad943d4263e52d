"""Print what another reader sees in captures.

    read.py duckdb|duckdb1|pyarrow|pandas|polars|clickhouse|spark FILE…

For each file a line with the names of the columns and the number of rows, then each row
as a JSON array, in order of time. Numbers are printed as decimal strings, so that no
JSON parser can round them; NULL is null. A file that the reader refuses is a line
{"refused": why}. duckdb1 is an older DuckDB, in the folder duckdb1 of the environment.
"""

import json
import os
import sys

from databases import clickhouse, spark

ORDER = ["ts_ns", "cpu", "seq"]


def duckdb_rows(path):
    import duckdb

    con = duckdb.connect()
    names = [row[0] for row in con.execute("DESCRIBE SELECT * FROM read_parquet(?)", [path]).fetchall()]
    columns = ", ".join("epoch_us(ts) AS ts" if n == "ts" else f'"{n}"' for n in names)
    return names, con.execute(f"SELECT {columns} FROM read_parquet(?)", [path]).fetchall()


def duckdb1_rows(path):
    sys.path.insert(0, os.path.join(sys.prefix, "duckdb1"))
    import duckdb

    if not duckdb.__version__.startswith("1."):
        raise SystemExit(f"DuckDB is {duckdb.__version__}")
    return duckdb_rows(path)


def pyarrow_rows(path):
    import pyarrow
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(path)
    at = table.column_names.index("ts")
    table = table.set_column(at, "ts", table.column("ts").cast(pyarrow.int64()))
    return table.column_names, list(zip(*(c.to_pylist() for c in table.columns)))


def pandas_rows(path):
    """Columns that are never NULL as pandas reads them by itself. Its own way of
    marking NULL in a number column is a float, which cannot hold every value of 64
    bits, so the others are read with its nullable types."""
    import pandas
    import pyarrow.parquet

    schema = pyarrow.parquet.read_schema(path)
    plain = pandas.read_parquet(path)
    nullable = pandas.read_parquet(path, dtype_backend="numpy_nullable")
    columns = []
    for field in schema:
        series = nullable[field.name] if field.nullable else plain[field.name]
        if field.name == "ts":
            series = series.dt.as_unit("us").astype("int64")
        elif not field.nullable and series.dtype.kind == "f":
            raise SystemExit(f"pandas reads {field.name} as {series.dtype}")
        columns.append([None if pandas.isna(v) else v for v in series.tolist()])
    return schema.names, list(zip(*columns))


def polars_rows(path):
    import polars

    frame = polars.read_parquet(path).with_columns(polars.col("ts").dt.epoch("us"))
    return frame.columns, frame.rows()


def clickhouse_rows(path):
    return clickhouse()(f"SELECT * REPLACE (toUnixTimestamp64Micro(ts) AS ts) FROM file('{path}', Parquet)")


def spark_rows(path):
    names, _ = spark()(f"SELECT * FROM parquet.`{path}` LIMIT 0")
    columns = ", ".join("unix_micros(ts) AS ts" if n == "ts" else f"`{n}`" for n in names)
    return spark()(f"SELECT {columns} FROM parquet.`{path}`")


def show(path, read):
    try:
        names, rows = read(path)
    except Exception as why:  # each reader has its own kinds
        print(json.dumps({"refused": str(why)}))
        return
    keys = [names.index(n) for n in ORDER]
    rows = sorted(rows, key=lambda row: [row[k] for k in keys])
    print(json.dumps({"columns": names, "rows": len(rows)}))
    for row in rows:
        print(json.dumps([None if v is None else str(v) for v in row]))


def main():
    reader, *paths = sys.argv[1:]
    for path in paths:
        show(path, globals()[reader + "_rows"])


main()
