"""Databases that answer SQL, as functions from a query to names and rows."""

import functools
import json
import os


@functools.cache
def duckdb():
    import duckdb

    con = duckdb.connect()

    def ask(query):
        found = con.execute(query)
        return [d[0] for d in found.description], found.fetchall()

    return ask


@functools.cache
def clickhouse():
    from chdb import session

    con = session.Session()

    def ask(query):
        out = con.query(query, "JSONCompactEachRowWithNames").bytes().decode()
        names, *rows = [json.loads(line) for line in out.rstrip("\n").split("\n")]
        return names, rows

    return ask


@functools.cache
def spark():
    """Small files, many queries: what pays off for large ones is left out."""
    os.environ.setdefault("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]")
    for key, value in {
        "spark.ui.enabled": "false",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.shuffle.partitions": "1",
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    }.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()

    def ask(query):
        found = session.sql(query)
        return found.columns, found.collect()

    return ask
