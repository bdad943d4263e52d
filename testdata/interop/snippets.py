"""Run the snippets of a page in Markdown, in the current folder.

    snippets.py PAGE.md

Blocks of sh, sql and python are run in their order, as one session each. What they print
is the JSON list on standard output, one text per block.
"""

import contextlib
import io
import json
import re
import subprocess
import sys

import duckdb

con = duckdb.connect()
names = {}


def sh(text):
    return subprocess.run(["sh", "-euc", text], check=True, capture_output=True, text=True).stdout


def sql(text):
    if not text.startswith(("SELECT", "WITH", "FROM")):
        con.execute(text)
        return ""
    found = con.sql(text)
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        found.show(max_width=110)
    return out.getvalue()


def python(text):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(text, names)
    return out.getvalue()


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        blocks = re.findall(r"^```(sh|sql|python)\n(.*?)^```$", f.read(), re.M | re.S)
    run = {"sh": sh, "sql": sql, "python": python}
    print(json.dumps(["\n".join(l.rstrip() for l in run[kind](text).strip("\n").split("\n")) for kind, text in blocks]))


main()
