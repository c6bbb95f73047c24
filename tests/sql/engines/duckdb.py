"""DuckDB, a Python module."""

import importlib

from . import engine


class DuckDB(engine.Engine):
    FILE = "duckdb.sql"
    KEYS = {"txid": "TEXT", "uuid_v6": "UUID", "uuid_v7": "UUID", "flake": "TEXT", "trace_id": "TEXT", "snowflake": "BIGINT"}
    # A TIMESTAMP is 64 bits of microseconds.
    LAST_MS = 2**63 // 1000
    NULL_TIME = "NULL::TIMESTAMP"

    def __init__(self):
        self.connection = importlib.import_module("duckdb").connect()

    @staticmethod
    def missing():
        return engine.missing_module("duckdb")

    def query(self, sql):
        return self.connection.execute(sql).fetchall()

    def text(self, text):
        return f"decode(unhex('{text.encode().hex()}'))"

    def time(self, microseconds):
        return f"make_timestamp({microseconds})"

    def time_of_row(self, ms, row):
        return f"epoch_ms({ms} + {row} * 1000)"

    def ms(self, time):
        return f"epoch_us({time}) // 1000"

    def numbers(self, count):
        return f"range({count}) AS numbers (i)"

    def reads_a_range(self, plan, table):
        # It keeps the least and greatest key of each 122,880 rows, and does not read those that cannot match.
        return "Filters: (id >= " in " ".join(plan.replace("│", "").split())
