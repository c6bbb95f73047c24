"""ClickHouse, as the Python module chdb."""

import importlib
import json
import re

from . import engine


class ClickHouse(engine.Engine):
    FILE = "clickhouse.sql"
    KEYS = {"txid": "String", "uuid_v7": "String", "flake": "String", "trace_id": "String", "snowflake": "Int64"}
    KEY = "String"
    UNSORTED = "ENGINE = Memory"
    # A DateTime64 ends with the year 2299, and begins with 1900.
    FIRST_MS = -2208988800000
    LAST_MS = 10413791999999

    def __init__(self):
        self.session = importlib.import_module("chdb.session").Session()

    @staticmethod
    def missing():
        return engine.missing_module("chdb.session")

    def load(self):
        for statement in (engine.ROOT / "readers/sql" / self.FILE).read_text().split(";\n")[:-1]:
            self.query(statement)

    def query(self, sql):
        said = self.session.query(sql, "JSONCompactEachRow").data()
        return [tuple(json.loads(row)) for row in said.splitlines()]

    def text(self, text):
        return f"unhex('{text.encode().hex()}')"

    def time(self, microseconds):
        return f"fromUnixTimestamp64Micro(toInt64({microseconds}), 'UTC')"

    def time_of_row(self, ms, row):
        return f"fromUnixTimestamp64Milli(toInt64({ms} + {row} * 1000), 'UTC')"

    def ms(self, time):
        return f"toUnixTimestamp64Milli({time})"

    def numbers(self, count):
        return f"(SELECT number AS i FROM numbers({count})) AS numbers"

    def create(self, table, columns, key):
        self.query(f"CREATE TABLE {table} ({columns}) ENGINE = MergeTree ORDER BY {key} SETTINGS index_granularity = 1024")

    def create_texts(self, texts):
        self.query("CREATE TABLE texts (n Int64, id String) ENGINE = Memory")
        values = (f"({n}, {self.text(text)})" for n, text in enumerate(texts))
        self.query(f"INSERT INTO texts VALUES {', '.join(values)}")

    def analyze(self, table):
        pass

    def plan(self, query):
        return "\n".join(row[0] for row in self.query(f"EXPLAIN indexes = 1 {query}"))

    def reads_a_range(self, plan, table):
        granules = re.search(r"PrimaryKey.*?Granules: (\d+)/(\d+)", plan, re.DOTALL)
        return granules is not None and int(granules[1]) < int(granules[2])

    def close(self):
        self.session.close()
