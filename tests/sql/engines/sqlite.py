"""SQLite, which has queries instead of functions."""

import re
import sqlite3

from . import engine

NAMED = re.compile(r"^-- (\w+)(?::.*)?\n((?:SELECT|WITH)[^;]*);", re.MULTILINE)
PARAMETER = re.compile(r":(\w+)")


class SQLite(engine.Engine):
    FILE = "sqlite.sql"
    MAKES = True
    KEYS = {"txid": "TEXT", "uuid_v7": "TEXT", "flake": "TEXT", "trace_id": "TEXT", "snowflake": "INTEGER"}

    def __init__(self):
        self.connection = sqlite3.connect(":memory:", isolation_level=None)

    def load(self):
        self.queries = dict(NAMED.findall((engine.ROOT / "readers/sql" / self.FILE).read_text()))

    def query(self, sql):
        return self.connection.execute(sql).fetchall()

    def version(self):
        return sqlite3.sqlite_version

    def call(self, function, *arguments):
        if function.endswith("_new"):
            # Not as a query, which is computed once.
            return self.queries[function].removeprefix("SELECT")
        if function.endswith("_time"):
            return self.named("time_of_ms", ms=self.call(function.removesuffix("_time") + "_ms", *arguments))
        value, *layout = arguments
        parameters = dict(zip(("time_bits", "low_bits", "unit_ms", "epoch_ms"), layout))
        if function.endswith("_ms"):
            return self.named(function, id=value, **parameters)
        return self.named(function, ms=self.ms(value), **parameters)

    def named(self, name, **arguments):
        query = PARAMETER.sub(lambda parameter: str(arguments[parameter[1]]), self.queries[name])
        return f"({query})"

    def text(self, text):
        return f"CAST(x'{text.encode().hex()}' AS TEXT)"

    def time(self, microseconds):
        return self.named("time_of_ms", ms=microseconds // 1000)

    def time_of_row(self, ms, row):
        return self.named("time_of_ms", ms=f"({ms} + {row} * 1000)")

    def ms(self, time):
        return self.named("ms_of_time", time=time)

    def numbers(self, count):
        numbers = f"WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < {count - 1}) SELECT i FROM n"
        return f"({numbers}) AS numbers"

    def plan(self, query):
        return "\n".join(row[3] for row in self.query(f"EXPLAIN QUERY PLAN {query}"))

    def reads_a_range(self, plan, table):
        return f"SEARCH {table} USING" in plan and "(id>? AND id<?)" in plan.replace("rowid", "id")

    def close(self):
        self.connection.close()
