"""Print what another reader sees in a capture, one JSON array per row.

    read.py duckdb|pyarrow|pandas FILE          every value of every column
    read.py sql FILE QUERY.sql                  the answer to a query over the view "capture"

The first line names the columns. Numbers are printed as decimal strings, so that no
JSON parser can round them; NULL is null. Exit code 3 means that the reader refuses
the file.
"""

import json
import sys

ORDER = ["ts_ns", "cpu", "seq"]


def duckdb_rows(path):
    import duckdb

    con = duckdb.connect()
    names = [row[0] for row in con.execute("DESCRIBE SELECT * FROM read_parquet(?)", [path]).fetchall()]
    columns = ", ".join("epoch_us(ts) AS ts" if n == "ts" else f'"{n}"' for n in names)
    return names, con.execute(f"SELECT {columns} FROM read_parquet(?)", [path]).fetchall()


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


def sql_rows(path, query):
    import duckdb

    con = duckdb.connect()
    con.execute("CREATE TABLE capture AS FROM read_parquet(?)", [path])
    with open(query, encoding="utf-8") as f:
        found = con.execute(f.read())
    return [d[0] for d in found.description], found.fetchall()


def main():
    reader, path, *rest = sys.argv[1:]
    read = {"duckdb": duckdb_rows, "pyarrow": pyarrow_rows, "pandas": pandas_rows, "sql": sql_rows}[reader]
    try:
        names, rows = read(path, *rest)
    except Exception as why:  # each reader has its own kinds
        print(why, file=sys.stderr)
        raise SystemExit(3)
    if all(n in names for n in ORDER):
        keys = [names.index(n) for n in ORDER]
        rows.sort(key=lambda row: [row[k] for k in keys])
    out = sys.stdout
    print(json.dumps(names), file=out)
    for row in rows:
        print(json.dumps([None if v is None else str(v) for v in row]), file=out)


main()
