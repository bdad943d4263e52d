"""Answer SQL queries with another program, one JSON document per query.

    ask.py duckdb|clickhouse|spark < queries.json

The input is a JSON list of queries. Each line of the output is one answer: the names of
the columns, then the rows. Numbers are decimal strings, so that no JSON parser can round
them; NULL is null. A query that fails is {"error": …}.
"""

import json
import sys

import databases


def main():
    database = getattr(databases, sys.argv[1])
    for query in json.load(sys.stdin):
        try:
            names, rows = database()(query.rstrip().rstrip(";"))
            answer = {"columns": names, "rows": [[None if v is None else str(v) for v in row] for row in rows]}
        except Exception as why:  # each program has its own kinds
            answer = {"error": str(why)}
            database.cache_clear()
        print(json.dumps(answer), flush=True)


main()
