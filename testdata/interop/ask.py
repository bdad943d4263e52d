"""Answer SQL queries with another program, one JSON document per query.

    ask.py duckdb|clickhouse|spark < queries.json

The input is a JSON list of queries. Each line of the output is one answer: the names of
the columns, then the rows. Numbers are decimal strings, so that no JSON parser can round
them; NULL is null. A query that fails is {"error": …}.
"""

import json
import sys


def duckdb_ask():
    import duckdb

    con = duckdb.connect()

    def ask(query):
        found = con.execute(query)
        return [d[0] for d in found.description], found.fetchall()

    return ask


def clickhouse_ask():
    from chdb import session

    con = session.Session()

    def ask(query):
        out = con.query(query.rstrip().rstrip(";"), "JSONCompactEachRowWithNames").bytes().decode()
        names, *rows = [json.loads(line) for line in out.splitlines()]
        return names, rows

    return ask


def spark_ask():
    from pyspark.sql import SparkSession

    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "1")
        .config("spark.sql.adaptive.enabled", "false")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .getOrCreate()
    )

    def ask(query):
        found = spark.sql(query.rstrip().rstrip(";"))
        return found.columns, found.collect()

    return ask


ASK = {"duckdb": duckdb_ask, "clickhouse": clickhouse_ask, "spark": spark_ask}


def main():
    ask = ASK[sys.argv[1]]()
    for query in json.load(sys.stdin):
        try:
            names, rows = ask(query)
            answer = {"columns": names, "rows": [[None if v is None else str(v) for v in row] for row in rows]}
        except Exception as why:  # each program has its own kinds
            answer = {"error": str(why)}
            ask = ASK[sys.argv[1]]()
        print(json.dumps(answer), flush=True)


main()
