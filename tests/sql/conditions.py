"""The conditions of `txid range --sql` find the ids of the time, in columns of any collation, and by their key."""

import subprocess
import unittest

import vectors
from engines import engine
from engines.clickhouse import ClickHouse
from engines.duckdb import DuckDB
from engines.mariadb import MariaDB, text_key
from engines.postgresql import PostgreSQL
from engines.sqlite import SQLite

COMMAND = engine.ROOT / "target/release/txid"
FORMATS = ["txid", "uuid_v7", "flake", "trace_id", "snowflake"]
START_MS = 1790000000000
ROWS = 5000
SECONDS = 1000


def condition(format, dialect):
    window = ["--from", str(START_MS + 2000 * 1000), "--to", str(START_MS + (2000 + SECONDS) * 1000)]
    command = [COMMAND, "range", *window, "--format", format, "--sql", "id", "--dialect", dialect]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@unittest.skipUnless(COMMAND.exists(), "the command is not built")
class Conditions(unittest.TestCase):
    def check(self, kind, dialect, keys, sorted_by="id"):
        """Each of the keys is a format, a type, and whether a query reads a range of a key of this type."""
        missing = kind.missing()
        if missing:
            self.skipTest(missing)
        started = engine.started(kind)
        for format, key, reads_a_range in keys:
            layout = vectors.PRESETS["snowflake"] if format == "snowflake" else ()
            first = started.call(f"{format}_first", started.time_of_row(START_MS, "i"), *layout)
            started.create("requests", f"id {key}, n BIGINT", sorted_by)
            started.query(f"INSERT INTO requests SELECT {first}, i FROM {started.numbers(ROWS)}")
            started.analyze("requests")
            query = f"SELECT count(n) FROM requests WHERE {condition(format, dialect)}"
            self.assertEqual(int(started.query(query)[0][0]), SECONDS, (format, key))
            plan = started.plan(query)
            self.assertEqual(started.reads_a_range(plan, "requests"), reads_a_range, (format, key, plan))
            started.query("DROP TABLE requests")
        return started

    def recommended(self, kind):
        return [(format, kind.KEYS[format], True) for format in FORMATS]

    def test_postgresql(self):
        # The key of another collation has another order.
        others = [(format, 'text COLLATE "da-x-icu"', False) for format in ("txid", "flake")]
        self.check(PostgreSQL, "postgresql", self.recommended(PostgreSQL) + others)

    def test_mariadb(self):
        uuid = ("uuid_v7", text_key(36), True)
        started = self.check(MariaDB, "mysql", [*self.recommended(MariaDB), uuid])
        # Its order is another one, and it has equal ids.
        started.query("CREATE TABLE requests (id CHAR(22) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci PRIMARY KEY)")
        with self.assertRaisesRegex(engine.Refused, "Illegal mix of collations"):
            started.query(f"SELECT count(*) FROM requests WHERE {condition('flake', 'mysql')}")
        started.query("DROP TABLE requests")

    def test_sqlite(self):
        self.check(SQLite, "sqlite", self.recommended(SQLite) + [("flake", "TEXT COLLATE NOCASE", False)])

    def test_duckdb(self):
        self.check(DuckDB, "duckdb", self.recommended(DuckDB))

    def test_clickhouse(self):
        texts = [key for key in self.recommended(ClickHouse) if key[0] != "uuid_v7"]
        self.check(ClickHouse, "clickhouse", texts)

    def test_clickhouse_with_uuids(self):
        self.check(ClickHouse, "clickhouse", [("uuid_v7", "UUID", True)], "toUInt128(id)")
